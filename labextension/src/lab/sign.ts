/** The sign of jaxviz, two operations that become one, as it is without JupyterLab's own icons. */
export const sign = {
  name: 'jaxviz:programs',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16">
  <g class="jp-icon3" fill="#616161">
    <rect x="1" y="1.5" width="5.5" height="4" rx="1"/>
    <rect x="9.5" y="1.5" width="5.5" height="4" rx="1"/>
    <rect x="4.5" y="10.5" width="7" height="4" rx="1"/>
    <path d="M3.2 5.5h1.2c0 2 .6 2.6 2.2 3 .6.2.9.5 1 1v1H8.4v-1c.1-.5.4-.8 1-1 1.6-.4 2.2-1 2.2-3h1.2c0 2.6-1 3.6-3 4.2-.2.1-.3.2-.3.5v.3H6.5v-.3c0-.3-.1-.4-.3-.5-2-.6-3-1.6-3-4.2z"/>
  </g>
</svg>`
};
