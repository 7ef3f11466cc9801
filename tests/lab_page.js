// What the browser tests ask of JupyterLab, which shows itself to the page as `jupyterapp` when it is started so.
window.labPage = {
  panel(path) {
    const open = window.jupyterapp ? [...window.jupyterapp.shell.widgets("main")] : [];
    return open.find((each) => each.context && each.context.path === path);
  },

  kernel(path) {
    return this.panel(path)?.sessionContext.session?.kernel;
  },

  ready(path) {
    const panel = this.panel(path);
    return Boolean(panel?.isVisible && panel.content.widgets.length > 1) && this.kernel(path)?.status === "idle";
  },

  cells(path) {
    return this.panel(path).content.widgets.map(({ model }) => ({
      kind: model.type,
      source: model.sharedModel.getSource(),
      count: model.executionCount ?? null,
      outputs: model.type === "code" ? model.outputs.toJSON() : [],
    }));
  },

  // The code cells that are not empty, or the one at a place.
  wanted(path, place) {
    const widgets = this.panel(path).content.widgets;
    const code = (place === null ? widgets : [widgets[place]]).map(({ model }) => model);
    return code.filter((model) => model.type === "code" && model.sharedModel.getSource().trim());
  },

  // Take the cells' numbers away: when all have one again, they have run.
  begin(path, place) {
    for (const model of this.wanted(path, place)) model.executionCount = null;
  },

  // Whether they have run; a cell that failed ends the wait.
  done(path, place) {
    const models = this.wanted(path, place);
    if (this.kernel(path)?.status !== "idle" || models.some((model) => model.executionState === "running")) return false;
    const failed = (model) => model.outputs.toJSON().some((output) => output.output_type === "error");
    return models.every((model) => model.executionCount !== null) || models.some(failed);
  },

  show(path, place) {
    return this.panel(path).content.scrollToItem(place, "start");
  },

  // Note from now on whether the kernel restarts.
  awaitRestart(path) {
    this.restarting = false;
    this.kernel(path).statusChanged.connect((_, status) => {
      this.restarting ||= status === "restarting";
    });
  },

  restarted(path) {
    return this.restarting && this.ready(path);
  },

  // The kernel goes; the next test gets its own.
  async leave(path) {
    await this.panel(path).sessionContext.shutdown();
  },

  // Code in the kernel, beside the notebook; what it prints.
  async execute(path, code) {
    const future = this.kernel(path).requestExecute({ code, store_history: false });
    let text = "";
    future.onIOPub = ({ header, content }) => {
      if (header.msg_type === "stream") text += content.text;
      if (header.msg_type === "error") text += content.traceback.join("\n");
    };
    await future.done;
    return text;
  },

  notebook(path) {
    return this.panel(path).content.node;
  },

  pictures(path) {
    const all = this.notebook(path).querySelectorAll(".jp-OutputArea-output img, .jp-OutputArea-output svg");
    const named = (each) =>
      (each.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
    return [...all].map((each) => ({
      start: each.outerHTML.slice(0, 100),
      drawn: each.getBoundingClientRect().width > 0 && (each.tagName !== "IMG" || each.naturalWidth > 0),
      words: each.alt || each.getAttribute("aria-label") || each.ariaHidden || named(each).join(" ").trim(),
      ...this.labels(each),
    }));
  },

  // The labels of a picture that run out of it, and those that lie on each other.
  labels(picture) {
    const texts = [...picture.querySelectorAll("text")].filter((each) => each.textContent.trim());
    const boxes = texts.map((each) => ({ words: each.textContent.trim(), ...each.getBoundingClientRect().toJSON() }));
    const frame = picture.getBoundingClientRect();
    const out = ({ left, right, top, bottom }) =>
      left < frame.left - 1 || right > frame.right + 1 || top < frame.top - 2 || bottom > frame.bottom + 2;
    const share = (one, other) =>
      Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
      Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 4;
    const pairs = boxes.flatMap((one, at) => boxes.slice(at + 1).map((other) => [one, other]));
    return {
      cut: boxes.filter(out).map(({ words }) => words),
      overlaps: pairs.filter(([one, other]) => share(one, other)).map((pair) => pair.map(({ words }) => words)),
    };
  },

  // Every text in the outputs, with the contrast between it and the colour behind it.
  texts(path) {
    const found = [];
    for (const output of this.notebook(path).querySelectorAll(".jp-OutputArea-output")) {
      const walker = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const words = walker.currentNode.data.trim();
        const parent = walker.currentNode.parentElement;
        if (!words || parent.closest("title, desc, style, script")) continue;
        const style = getComputedStyle(parent);
        const front = parent.closest("svg") ? style.fill : style.color;
        const back = this.background(parent.closest("svg")?.parentElement ?? parent);
        found.push({ words, front, back, contrast: this.contrast(this.rgb(front), this.rgb(back)) });
      }
    }
    return found;
  },

  background(element) {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (this.rgb(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  },

  rgb(colour) {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  },

  contrast(one, other) {
    const linear = (value) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  },

  // Scroll the notebook so many windows down; whether there is more below.
  scroll(path, windows) {
    const box = this.notebook(path).querySelector(".jp-WindowedPanel-outer") ?? this.notebook(path);
    box.scrollTop = windows * (box.clientHeight - 40);
    return box.scrollTop + box.clientHeight < box.scrollHeight - 1;
  },
};
