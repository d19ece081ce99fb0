/** Which files of a folder of dumps are opened on double click, by their names. */

/**
 * HLO as text, with passes in between. Other texts are about a module: where its values lie, or which options it had.
 */
export const DUMPED =
  '^(?:[\\w-]+\\.)*module_\\d+\\..+\\.(?:[\\w-]*(?:before|after)_optimizations|after_(?!optimizations-)[\\w.-]+)\\.txt$';
