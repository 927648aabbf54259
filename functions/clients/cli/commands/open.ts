import { pathOf, tabs } from '#clients/client/page-addresses.ts';
import { type Command, ofWorkspace } from '../arguments.ts';
import { openInBrowser } from '../browser.ts';
import { wrongUsage } from '../exit.ts';
import type { Session } from '../session.ts';
import { isAttended, print, printJson } from '../terminal.ts';

const pathFor = async (session: Session, what: string | undefined): Promise<string> => {
  if (what?.includes('run-')) return (await session.run(what)).links?.['self-html'] ?? '/';
  const organization = session.organizationName;
  const workspace = session.workspaceName;
  const tab = tabs.find((candidate) => candidate === what);
  if (what && !tab) throw wrongUsage(`"${what}" is neither a run nor a tab (${tabs.join(', ')})`);
  if (!workspace) {
    if (tab === 'runs' && organization) return pathOf({ view: 'queue', organization });
    if (tab) throw wrongUsage(`No workspace given for ${tab}. Give --workspace`);
    return pathOf(organization ? { view: 'workspaces', organization } : { view: 'home' });
  }
  return pathOf({ view: 'workspace', organization: await session.organization(), workspace, tab: tab ?? 'overview' });
};

export const open: Command = {
  name: 'open',
  about: 'Open a run, a workspace or the organization in the browser',
  takes: '[run or tab]',
  options: ofWorkspace,
  more: `Tabs of a workspace: ${tabs.join(', ')}. Without a workspace, "runs" opens the organization’s runs. Without a terminal, only prints the URL.`,
  run: async (call, session) => {
    const url = `${session.address.url}${await pathFor(session, call.word(0))}`;
    if (call.flag('json')) return printJson({ url });
    print(url);
    if (isAttended()) openInBrowser(url);
  },
};
