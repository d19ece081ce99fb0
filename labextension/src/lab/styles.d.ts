/** The bundler puts these into the page. */
declare module '*.css';
