/** What the person has chosen in the settings; the renderer of cells, which has no settings of its own, reads it too. */
export interface Preferences {
  /** Kind of the stage that is shown first. */
  stage: string;
  /** What boxes are coloured by at first. */
  colour: string;
  /** Height of the picture in a cell, in px; 0 lets the picture decide. */
  height: number;
  /** Documents of more characters are shown when they are asked for. */
  largest: number;
}

export const preferences: Preferences = { stage: '', colour: '', height: 0, largest: 0 };
