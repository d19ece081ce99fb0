/** Where something was drawn, kept by rows: what needs ground under it only there asks for it. */
const ROWS = 64;

export class Drawn {
  /** Left, top, right and bottom of each thing, in each row that it reaches. */
  private readonly rows: number[][] = Array.from({ length: ROWS }, () => []);
  private readonly rowHeight: number;

  /** `height` is that of the picture; what lies beyond it is kept in the first and the last row. */
  constructor(height: number) {
    this.rowHeight = Math.max(1, height / ROWS);
  }

  add(left: number, top: number, right: number, bottom: number): void {
    for (let row = this.rowOf(top); row <= this.rowOf(bottom); row++) {
      this.rows[row].push(left, top, right, bottom);
    }
  }

  /** True where something may have been drawn in the area. */
  meets(left: number, top: number, right: number, bottom: number): boolean {
    for (let row = this.rowOf(top); row <= this.rowOf(bottom); row++) {
      const here = this.rows[row];
      for (let i = 0; i < here.length; i += 4) {
        if (here[i] < right && here[i + 1] < bottom && here[i + 2] > left && here[i + 3] > top) {
          return true;
        }
      }
    }
    return false;
  }

  private rowOf(y: number): number {
    return Math.min(ROWS - 1, Math.max(0, Math.floor(y / this.rowHeight)));
  }
}
