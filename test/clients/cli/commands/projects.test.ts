import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from '#clients/cli/arguments.ts';
import { findAgentPool } from '#clients/cli/commands/projects.ts';
import { findCommand } from '#clients/cli/commands.ts';
import { Session } from '#clients/cli/session.ts';

/** Commands on projects and variable sets: their requests and what they print. */

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const entry = (type: string, id: string, name: string, description?: string) => ({
  id,
  type,
  attributes: { name, description },
});
const stored: Record<string, object> = {
  '/api/v2/organizations/acme/projects': [
    entry('projects', 'prj-1', 'home', 'for all'),
    entry('projects', 'prj-2', 'x'),
  ],
  '/api/v2/organizations/acme/varsets': [entry('varsets', 'varset-1', 'aws')],
  '/api/v2/organizations/acme/agent-pools': [entry('agent-pools', 'apool-1', 'office')],
  '/api/v2/organizations/acme/workspaces/net': entry('workspaces', 'ws-1', 'net'),
};

const sessionFor = (text: (name: string) => string | undefined) => {
  vi.stubEnv('TFE_ADDRESS', 'https://tfe.example');
  vi.stubEnv('TFE_TOKEN', 'of-env');
  return new Session({ text });
};

/** Runs a command for organization acme. @returns its changes, and what it printed */
const perform = async (...args: string[]) => {
  const changes: unknown[] = [];
  vi.stubGlobal('fetch', async (url: string, { method = 'GET', body }: RequestInit) => {
    const { pathname } = new URL(url);
    if (method === 'GET') return Response.json({ data: stored[pathname] });
    changes.push([`${method} ${pathname.replace('/api/v2', '')}`, body ? JSON.parse(String(body)).data : undefined]);
    const created = { ...JSON.parse(String(body ?? '{}')).data, id: 'new-1' };
    return method === 'DELETE' ? new Response(null, { status: 204 }) : Response.json({ data: created });
  });
  let printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  const match = findCommand([...args, '--organization', 'acme']);
  if (!match) throw new Error(`no command: ${args.join(' ')}`);
  const call = parse(match.command, match.rest);
  await match.command.run(
    call,
    sessionFor((name) => call.text(name)),
  );
  return { changes, printed };
};

it('settings of a workspace name its agent pool and its project', async () => {
  const set = ['workspaces', 'settings', '--workspace', 'net', '--execution-mode', 'agent'];
  const { changes } = await perform(...set, '--agent-pool', 'office', '--project', 'x');
  const attributes = { 'execution-mode': 'agent', 'agent-pool-id': 'apool-1' };
  const relationships = { project: { data: { type: 'projects', id: 'prj-2' } } };
  expect(changes).toEqual([['PATCH /workspaces/ws-1', { type: 'workspaces', attributes, relationships }]]);
  await expect(perform(...set)).rejects.toThrow('give --agent-pool <name>');
});

describe('projects and variable sets', () => {
  it('are listed with their ids and descriptions', async () => {
    expect((await perform('projects', 'list', '--output', 'csv')).printed).toBe(
      'name,id,description\nhome,prj-1,for all\nx,prj-2,\n',
    );
    const { printed } = await perform('variable-sets', 'list', '--json');
    expect(JSON.parse(printed).data).toMatchObject([{ id: 'varset-1' }]);
  });

  it.each([
    [['projects', 'create', 'b', '--description', 'why'], 'projects', { name: 'b', description: 'why' }, 'project b'],
    [['variable-sets', 'create', 'b'], 'varsets', { name: 'b' }, 'variable set b'],
    [['variable-sets', 'create', 'b', '--global'], 'varsets', { name: 'b', global: true }, 'variable set b'],
  ])('are created: %j', async (args, type, attributes, what) => {
    const { changes, printed } = await perform(...args);
    expect(changes).toEqual([[`POST /organizations/acme/${type}`, { type, attributes }]]);
    expect(printed).toBe(`Created ${what} (new-1).\n`);
    expect(JSON.parse((await perform(...args, '--json')).printed).data).toMatchObject({ id: 'new-1', attributes });
  });

  it.each([
    [['projects', 'delete', 'home'], '/projects/prj-1', 'project home'],
    [['projects', 'delete', 'prj-2'], '/projects/prj-2', 'project x'],
    [['variable-sets', 'delete', 'aws'], '/varsets/varset-1', 'variable set aws'],
  ])('are deleted by name or id: %j', async (args, path, what) => {
    const { changes, printed } = await perform(...args, '--yes');
    expect([changes, printed]).toEqual([[[`DELETE ${path}`, undefined]], `Deleted ${what}.\n`]);
    expect(JSON.parse((await perform(...args, '--yes', '--json')).printed)).toEqual({ data: null });
  });

  it.each([
    ['attach', 'POST', 'is used in'],
    ['detach', 'DELETE', 'is no longer used in'],
  ])('variable sets %s to a workspace with %s', async (verb, method, outcome) => {
    const args = ['variable-sets', verb, 'aws', '--workspace', 'net'];
    const { changes, printed } = await perform(...args);
    const path = '/varsets/varset-1/relationships/workspaces';
    expect(changes).toEqual([[`${method} ${path}`, [{ type: 'workspaces', id: 'ws-1' }]]]);
    expect(printed).toBe(`Variable set aws ${outcome} net.\n`);
    expect(JSON.parse((await perform(...args, '--json')).printed).data).toMatchObject({ id: 'ws-1' });
  });
});

it('an agent pool is found by its name, and the page lists the others', async () => {
  vi.stubGlobal('fetch', async (url: string) => Response.json({ data: stored[new URL(url).pathname] }));
  const session = sessionFor((name) => (name === 'organization' ? 'acme' : undefined));
  expect((await findAgentPool(session, 'office')).id).toBe('apool-1');
  await expect(findAgentPool(session, 'zzzz')).rejects.toThrow(
    'Agent pool zzzz not found, or you don’t have access. The web page lists them, under Agents.',
  );
});
