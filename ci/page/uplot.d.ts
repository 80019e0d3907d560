// What the page uses of uPlot (reports/warpgauge/page/third_party/uplot).
interface uPlotAxis {
  [more: string]: unknown;
  splits?: (chart: uPlot, axis: number, low: number, high: number, step: number) => number[];
  filter?: (chart: uPlot, ticks: number[]) => (number | null)[];
  values?: (chart: uPlot, ticks: (number | null)[]) => string[];
}

interface uPlotSeries {
  [more: string]: unknown;
  points?: {
    size: number;
    fill: () => string;
    show: (chart: uPlot, series: number, from: number, to: number) => boolean;
  };
}

type uPlotHook = ((chart: uPlot) => void)[];
type uPlotListener = (event: MouseEvent) => void;

interface uPlotOptions {
  width: number;
  height: number;
  padding: number[];
  legend: { show: boolean };
  scales: {
    x: { time: boolean; range: (chart: uPlot, low: number, high: number) => number[] };
    y: { distr: number; range: (chart: uPlot) => number[] };
  };
  axes: uPlotAxis[];
  series: uPlotSeries[];
  cursor: {
    drag: { x: boolean; y: boolean; setScale: boolean };
    points: { size: number };
    sync: { key: string | null };
    bind: {
      mousedown: (chart: uPlot, target: HTMLElement, usual: uPlotListener) => uPlotListener;
    };
  };
  hooks: {
    drawAxes: uPlotHook;
    draw: uPlotHook;
    setCursor: uPlotHook;
    setScale: ((chart: uPlot, name: string) => void)[];
  };
}

declare class uPlot {
  static pxRatio: number;
  constructor(options: uPlotOptions, data: (number | null | undefined)[][], target: HTMLElement);
  readonly root: HTMLElement;
  readonly over: HTMLElement;
  readonly ctx: CanvasRenderingContext2D;
  readonly bbox: { left: number; top: number; width: number; height: number };
  readonly height: number;
  readonly scales: Record<string, { min: number; max: number }>;
  readonly series: { idxs: [number, number] }[];
  readonly cursor: { idx?: number | null };
  batch(draw: () => void): void;
  destroy(): void;
  redraw(rebuildPaths?: boolean, recalcAxes?: boolean): void;
  setCursor(place: { left: number; top: number }): void;
  setScale(name: string, range: { min: number; max: number }): void;
  setSize(size: { width: number; height: number }): void;
  valToPos(value: number, scale: string, onCanvas?: boolean): number;
}
