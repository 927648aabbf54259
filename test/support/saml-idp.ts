import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sha256Of } from '#platform/store/integrity.ts';
import { goBuild } from './go-build.ts';

/** A real SAML identity provider (saml-idp/main.go: crewjam/saml), built with Go once per version of its source. */

const folder = join(import.meta.dirname, 'saml-idp');

const provide = async (): Promise<string> => {
  const source = ['main.go', 'go.sum'].map((file) => readFileSync(join(folder, file), 'utf8')).join('');
  const target = join(import.meta.dirname, `../../.build/saml-idp/${sha256Of(source).slice(0, 12)}/saml-idp`);
  if (!existsSync(target)) await goBuild({ folder, program: '.', target });
  return target;
};

interface SamlAccount {
  NameID: string;
  Format: string;
  Attributes?: Record<string, string[]>;
}

export interface SamlIdp {
  url: string;
  /** Its metadata, to enter in the settings. */
  metadata(): Promise<string>;
  /** Registers this platform by its metadata. */
  register(metadata: string): Promise<void>;
  /** Signs a user in there. */
  use(account: SamlAccount): Promise<void>;
  /** Follows the browser to an address of it. @returns the form that it posts to this platform */
  visit(address: string): Promise<{ action: string; fields: Record<string, string> }>;
  close(): Promise<void>;
}

const unescaped = (text: string): string =>
  text
    .replaceAll(/&#(x[0-9a-f]+|\d+);/gi, (_, code: string) =>
      String.fromCodePoint(Number(code.startsWith('x') ? `0${code}` : code)),
    )
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

const attributeIn = (tag: string, name: string): string =>
  unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

const formIn = (html: string): { action: string; fields: Record<string, string> } => {
  const [form = ''] = /<form[^>]*>/i.exec(html) ?? [];
  const inputs = (html.match(/<input[^>]*>/gi) ?? []).map((tag) => [
    attributeIn(tag, 'name'),
    attributeIn(tag, 'value'),
  ]);
  return { action: attributeIn(form, 'action'), fields: Object.fromEntries(inputs.filter(([name]) => name)) };
};

const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('exit', resolve));

export const startSamlIdp = async (): Promise<SamlIdp> => {
  const child = spawn(await provide(), { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url] = (await new Promise<string[]>((resolve, reject) => {
    createInterface(child.stdout).once('line', (line) => resolve([line]));
    child.once('exit', (code) => reject(new Error(`the identity provider ended with ${code}`)));
  })) as [string];
  const send = async (path: string, body?: string): Promise<string> => {
    const answer = await fetch(`${url}${path}`, body === undefined ? {} : { method: 'POST', body });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
  return {
    url,
    metadata: () => send('/metadata'),
    register: async (metadata) => void (await send('/service', metadata)),
    use: async (account) => void (await send('/account', JSON.stringify(account))),
    visit: async (address) => formIn(await send(address.slice(url.length))),
    close: async () => {
      const end = ended(child);
      child.kill();
      await end;
    },
  };
};
