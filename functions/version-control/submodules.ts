import { isIdentifier } from '#resources/workspaces/vcs-repo-input.ts';
import { ArchiveError } from './repack.ts';

/** Submodules of a commit, from its `.gitmodules` (gitmodules(5)). Pure. */

export interface Submodule {
  path: string;
  url: string;
}

const maxPath = 500;

const isPath = (path: string): boolean =>
  path.length <= maxPath &&
  !/[\p{Cc}\\]/u.test(path) &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/** Removes the quotes and comments that git-config(5) allows. */
const settingOf = (text: string): string => {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text);
  return quoted ? (quoted[1] ?? '').replaceAll(/\\(.)/g, '$1') : text.replace(/\s*[#;].*$/, '').trim();
};

/** One per path. @throws {ArchiveError} for a path outside the repository */
export const readGitmodules = (text: string): Submodule[] => {
  const sections: Partial<Submodule>[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*\[/.test(line)) sections.push({});
    const [, key = '', value = ''] = /^\s*(path|url)\s*=\s*(.*)$/i.exec(line) ?? [];
    const section = sections.at(-1);
    if (section && key) section[key.toLowerCase() as keyof Submodule] = settingOf(value);
  }
  const byPath = new Map<string, Submodule>();
  for (const { path, url } of sections) {
    if (!path || !url) continue;
    const bare = path.replace(/\/+$/, '');
    if (!isPath(bare))
      throw new ArchiveError(`.gitmodules names the path ${path.slice(0, 100)}, which is outside of the repository`);
    byPath.set(bare, { path: bare, url });
  }
  return [...byPath.values()];
};

/** Whether git would need a key for it: `ssh://host/…`, `user@host:path`. */
export const takesSsh = (url: string): boolean => /^ssh:/i.test(url) || /^(?:[\w.-]+@)?[\w.-]+:(?!\/)/.test(url);

const bareIdentifier = (path: string): string | undefined => {
  const identifier = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  return isIdentifier(identifier) ? identifier : undefined;
};

/** A path relative to the parent repository. */
const relative = (url: string, identifier: string): string | undefined => {
  const parts = identifier.split('/');
  for (const part of url.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return bareIdentifier(parts.join('/'));
};

/**
 * The submodule's repository at the connection's forge; undefined for a URL elsewhere. Users, passwords and ssh ports
 * in the URL are ignored, because it is fetched with the connection's token.
 */
export const identifierOf = (
  url: string,
  { httpUrl, identifier }: { httpUrl: string; identifier: string },
): string | undefined => {
  if (/^\.\.?\//.test(url)) return relative(url, identifier);
  const forge = new URL(httpUrl);
  const [, host = '', path = ''] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/)(.+)$/.exec(url) ?? [];
  if (host) return host.toLowerCase() === forge.hostname ? bareIdentifier(path) : undefined;
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, host: withPort, pathname } = new URL(url);
  if (protocol === 'ssh:') return hostname === forge.hostname ? bareIdentifier(pathname) : undefined;
  const base = forge.pathname.replace(/\/+$/, '');
  const isHere = ['http:', 'https:'].includes(protocol) && withPort === forge.host && pathname.startsWith(`${base}/`);
  return isHere ? bareIdentifier(pathname.slice(base.length)) : undefined;
};
