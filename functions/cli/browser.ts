import { spawn } from 'node:child_process';

const openers: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Where there is none, its address has been printed. Never through a shell: addresses have characters that mean something there. */
export const openInBrowser = (url: string): void => {
  const [command = '', ...words] = process.env.BROWSER
    ? [process.env.BROWSER]
    : (openers[process.platform] ?? ['xdg-open']);
  const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
};
