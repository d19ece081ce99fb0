/** What Node gives to the scripts in this folder. */
export default {
  URL: 'readonly',
  console: 'readonly',
  module: 'writable',
  process: 'readonly',
  setTimeout: 'readonly'
};
