/** Paths as the kernel knows them, and as the server does. */

/** The path of a file as the server names it, where it lies below its root. The root may begin with a tilde. */
export function pathOfServer(path: string, root: string): string | null {
  const plain = root.replace(/\/+$/, '');
  if (plain && !plain.startsWith('~')) {
    return path.startsWith(`${plain}/`) ? path.slice(plain.length + 1) : null;
  }
  const rest = plain.slice(1);
  const home = /^(\/root|\/home\/[^/]+|\/Users\/[^/]+)/.exec(path)?.[1];
  return home !== undefined && path.startsWith(`${home}${rest}/`) ? path.slice(home.length + rest.length + 1) : null;
}
