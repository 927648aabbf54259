import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/**
 * Without a browser nothing happens: callers print the URL too. Never uses a shell, to which some characters of URLs are
 * special.
 */
export const openInBrowser = (url: string): void => {
  const [command = '', ...words] = process.env.BROWSER
    ? [process.env.BROWSER]
    : (openers[process.platform] ?? ['xdg-open']);
  const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
};
