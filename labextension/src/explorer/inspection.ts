/** Where the details stand: at the side of the picture that leaves the selected box free, over what lies under them. */
import type { Details } from './details.ts';
import { element } from './elements.ts';
import { showDetails, type InspectorActions } from './inspector.ts';
import type { Picture } from './picture.ts';

/** ms after a click in which a second one goes through the details to what lies under them. */
const DOUBLE_CLICK = 500;

export class Inspection {
  readonly root = element('aside', 'jv-inspector');

  constructor() {
    this.root.hidden = true;
    this.root.setAttribute('aria-label', 'details');
  }

  /** Makes ready for the details of a box that was clicked. The picture stays as it is. */
  comeBeside(picture: Picture, box: number): void {
    const { root } = this;
    if (root.hidden && box >= 0) {
      root.classList.add('jv-through');
      setTimeout(() => root.classList.remove('jv-through'), DOUBLE_CLICK);
      root.hidden = false;
      root.classList.toggle('jv-left', picture.isUnder(box, root.offsetWidth));
    }
  }

  /** Shows details, or none, and tells the picture what they cover. */
  show(picture: Picture, shown: Details | null, open: boolean, actions: InspectorActions): void {
    const { root } = this;
    root.hidden = shown === null;
    if (shown) {
      showDetails(root, shown, open, actions);
    } else {
      root.classList.remove('jv-left');
    }
    const { offsetWidth } = root;
    const left = root.classList.contains('jv-left');
    picture.setCover(left ? offsetWidth : 0, left ? 0 : offsetWidth);
  }
}
