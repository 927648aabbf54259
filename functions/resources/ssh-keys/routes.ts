import { type Answer, created, ok } from '#api/answer.ts';
import { notFound } from '#api/errors.ts';
import { editorOf, refusedChange, withEtag } from '#api/guard.ts';
import { listLimit } from '#api/list-limit.ts';
import { nameOf } from '#api/naming.ts';
import { pageFrom } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import { type InOrganization, organization } from '#resources/organizations/finder.ts';
import { workspaceDocument } from '#resources/workspaces/document.ts';
import { workspace } from '#resources/workspaces/finder.ts';
import type { Workspace } from '#resources/workspaces/records.ts';
import { sshKeyDocument } from './document.ts';
import { sshKey } from './finder.ts';
import { readAssignment, readNewSshKey, readSshKeyChange } from './input.ts';
import {
  assignSshKey,
  countSshKeys,
  createSshKey,
  deleteSshKey,
  getSshKey,
  listSshKeys,
  maxSshKeys,
  type SshKey,
  updateSshKey,
} from './records.ts';

/** SSH keys of organizations, and their assignment to workspaces, whose runs fetch modules with them. */

const create = async ({ request, subject: { organization: name } }: Context<InOrganization>): Promise<Answer> => {
  const values = readNewSshKey(request);
  const limit = listLimit(name, maxSshKeys, 'SSH keys', () => countSshKeys(name));
  const sshKey = await createLimited(limit, () => createSshKey(name, values.name, values.value), deleteSshKey);
  return created(sshKeyDocument(sshKey));
};

const listOfOrganization = async ({ request, subject }: Context<InOrganization>): Promise<Answer> => {
  const all = await listSshKeys(subject.organization);
  return pageFrom(request, all, sshKeyDocument);
};

const shown = (key: SshKey): Answer => withEtag(ok(sshKeyDocument(key)), key);

const update = async (context: Context<SshKey>): Promise<Answer> => {
  const { request, subject } = context;
  const editor = await editorOf(context, subject, 'SSH key');
  const change = readSshKeyChange(request);
  const updated = Object.keys(change).length ? await updateSshKey(subject, change, editor) : subject;
  if (updated) return shown(updated);
  throw await refusedChange(request, 'SSH key', await getSshKey(subject.id));
};

/** A key of another organization is reported like an unknown one. */
const assign = async ({ request, subject, granted }: Context<Workspace>): Promise<Answer> => {
  const id = readAssignment(request);
  const missing = () => notFound(`SSH key ${id} not found in ${nameOf(subject.organization)}.`);
  if (id && (await getSshKey(id))?.organization !== subject.organization) throw missing();
  const updated = await assignSshKey(subject, id);
  if (updated) return withEtag(ok(workspaceDocument(updated, granted)), updated);
  throw id ? missing() : notFound(`Workspace ${subject.name} was deleted at the same time.`);
};

const ofOrganization = '/organizations/{organization}/ssh-keys';
const path = '/ssh-keys/{sshKey}';

export const sshKeyRoutes: Route[] = [
  route('POST', ofOrganization, 'ssh-key:write', organization, create),
  route('GET', ofOrganization, 'ssh-key:read', organization, listOfOrganization),
  route('GET', path, 'ssh-key:read', sshKey, async ({ subject }) => shown(subject)),
  route('PATCH', path, 'ssh-key:write', sshKey, update),
  route('DELETE', path, 'ssh-key:write', sshKey, noContentAfter(deleteSshKey)),
  route('PATCH', '/workspaces/{workspace}/relationships/ssh-key', 'workspace:update', workspace, assign),
];
