/** Paints on a Canvas 2D. Scene coordinates; whoever uses it sets the transform. */
import { eachSegment, type Painter } from './scene.ts';
import { faces } from './text.ts';
import { inks, looks, type Ink, type Look, type LookName, type Palette } from './theme.ts';

export class CanvasPainter implements Painter {
  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly palette: Palette
  ) {}

  rect(name: LookName, x: number, y: number, width: number, height: number, radius: number): void {
    const { context } = this;
    const look: Look = looks[name];
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    if (look.fill) {
      context.fillStyle = this.palette[look.fill];
      context.fill();
    }
    this.stroke(look);
  }

  ground(name: LookName, x: number, y: number, width: number, height: number): void {
    this.rect(name, x, y, width, height, 3);
  }

  text(ink: Ink, x: number, y: number, text: string): void {
    const { face, role } = inks[ink];
    const { size, weight, family } = faces[face];
    this.context.direction = 'ltr';
    this.context.font = `${weight} ${size}px ${family}`;
    this.context.fillStyle = this.palette[role];
    this.context.fillText(text, x, y);
  }

  route(name: LookName, points: Float64Array): void {
    if (points.length >= 4) {
      this.begin(name);
      this.trace(points);
      this.end();
    }
  }

  cable(name: LookName, x1: number, y1: number, x2: number, y2: number): void {
    this.begin(name);
    const middle = (x1 + x2) / 2;
    this.context.moveTo(x1, y1);
    this.context.bezierCurveTo(middle, y1, middle, y2, x2, y2);
    this.context.stroke();
  }

  plus(name: LookName, x: number, y: number, arm: number): void {
    this.begin(name);
    this.context.moveTo(x - arm, y);
    this.context.lineTo(x + arm, y);
    this.context.moveTo(x, y - arm);
    this.context.lineTo(x, y + arm);
    this.context.stroke();
  }

  /** Begins a path that many routes are traced into. */
  begin(name: LookName, width?: number): void {
    const look: Look = looks[name];
    this.context.beginPath();
    this.context.strokeStyle = this.palette[look.stroke ?? 'edge'];
    this.context.lineWidth = width ?? look.width ?? 1;
    this.context.setLineDash(look.dash ? [...look.dash] : []);
  }

  /** Traces a route by straight lines, without steps shorter than `least`. */
  traceRough(points: Float64Array, least: number): void {
    const { context } = this;
    const last = points.length - 2;
    let x = points[0];
    let y = points[1];
    context.moveTo(x, y);
    for (let i = 2; i <= last; i += 2) {
      if (i === last || Math.abs(points[i] - x) > least || Math.abs(points[i + 1] - y) > least) {
        x = points[i];
        y = points[i + 1];
        context.lineTo(x, y);
      }
    }
  }

  /** Strokes what was traced since `begin`. */
  end(): void {
    this.context.stroke();
  }

  trace(points: Float64Array): void {
    const { context } = this;
    context.moveTo(points[0], points[1]);
    eachSegment(
      points,
      (x, y) => context.lineTo(x, y),
      (middle, fromX, x, y) => context.bezierCurveTo(fromX, middle, x, middle, x, y)
    );
  }

  private stroke(look: Look): void {
    if (look.stroke) {
      this.context.strokeStyle = this.palette[look.stroke];
      this.context.lineWidth = look.width ?? 1;
      this.context.setLineDash(look.dash ? [...look.dash] : []);
      this.context.stroke();
    }
  }
}
