/** The commands of jaxviz. */
export const Commands = {
  show: 'jaxviz:show-programs',
  open: 'jaxviz:open-program',
  openPath: 'jaxviz:open-path',
  rename: 'jaxviz:rename-program',
  pin: 'jaxviz:pin-program',
  save: 'jaxviz:save-program',
  remove: 'jaxviz:delete-program',
  select: 'jaxviz:select-for-comparison',
  compare: 'jaxviz:compare-programs',
  clear: 'jaxviz:clear-programs',
  notebook: 'jaxviz:new-notebook'
} as const;
