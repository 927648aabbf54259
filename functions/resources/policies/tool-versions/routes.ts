import { type Answer, created, noContent, ok } from '#api/answer.ts';
import { conflict, notFound, unprocessable } from '#api/errors.ts';
import { param } from '#api/finders.ts';
import { pageFrom } from '#api/pagination.ts';
import { type Call, type Route, userRoute } from '#api/route.ts';
import { newId } from '#platform/store/id.ts';
import { now } from '#platform/store/time.ts';
import { isOperator } from '#resources/organizations/admission-rules.ts';
import { ownVersions, toolVersionDocument } from './document.ts';
import { readNewToolVersion, readToolVersionChange } from './input.ts';
import {
  changeToolVersions,
  listToolVersions,
  maxToolVersions,
  type Tool,
  type ToolVersion,
  tools,
} from './records.ts';

/** Versions of policy engines, for operators only (Terraform Enterprise API: admin). Other callers get 404. */

const names: Record<Tool, string> = { opa: 'OPA', sentinel: 'Sentinel' };

const missing = (tool: Tool, id: string) =>
  notFound(`${names[tool]} version${id && ` ${id}`} not found, or you don't have access.`);

const taken = (tool: Tool, version: string) =>
  unprocessable('/data/attributes/version', `version: ${names[tool]} ${version} exists; change it with PATCH`);

/** @throws {ApiError} 404 */
const all = async ({ request, principal }: Call, tool: Tool): Promise<ToolVersion[]> => {
  // Both are read for every caller, so that response times do not reveal which versions exist.
  const [added, may] = await Promise.all([listToolVersions(tool), isOperator(principal)]);
  if (!may) throw missing(tool, param(request, 'version'));
  return [...added, ...ownVersions(tool)];
};

/** @throws {ApiError} 404 */
const requested = async (call: Call, tool: Tool): Promise<ToolVersion> => {
  const id = param(call.request, 'version');
  const version = (await all(call, tool)).find((one) => one.id === id);
  if (!version) throw missing(tool, id);
  return version;
};

/** @throws {ApiError} 404 or 422 */
const changeable = async (call: Call, tool: Tool): Promise<ToolVersion> => {
  const version = await requested(call, tool);
  if (ownVersions(tool).some(({ id }) => id === version.id)) {
    throw unprocessable('/data', `${names[tool]} ${version.version} comes with this platform and cannot be changed`);
  }
  return version;
};

const change = async (tool: Tool, work: (versions: ToolVersion[]) => ToolVersion[]): Promise<void> => {
  if (await changeToolVersions(tool, work)) return;
  throw conflict(`${names[tool]} versions were changed by other requests at the same time. Try again.`);
};

const listAll = (tool: Tool) => async (call: Call) => {
  const { query } = call.request;
  const [exact, part] = [query.get('filter[version]'), query.get('search[version]')];
  const fits = ({ version }: ToolVersion) => (!exact || version === exact) && (!part || version.includes(part));
  return pageFrom(call.request, (await all(call, tool)).filter(fits), (one) => toolVersionDocument(tool, one));
};

const create =
  (tool: Tool) =>
  async (call: Call): Promise<Answer> => {
    await all(call, tool);
    const version: ToolVersion = { id: newId('tool'), ...readNewToolVersion(call.request), createdAt: now() };
    await change(tool, (versions) => {
      if ([...versions, ...ownVersions(tool)].some((other) => other.version === version.version)) {
        throw taken(tool, version.version);
      }
      if (versions.length >= maxToolVersions) {
        throw unprocessable('/data', `there are ${maxToolVersions} versions, the maximum. Delete one first`);
      }
      return [version, ...versions];
    });
    return created(toolVersionDocument(tool, version));
  };

const update =
  (tool: Tool) =>
  async (call: Call): Promise<Answer> => {
    const { id } = await changeable(call, tool);
    const changed = readToolVersionChange(call.request);
    let result: ToolVersion | undefined;
    await change(tool, (versions) => {
      const before = versions.find((one) => one.id === id);
      if (!before) throw missing(tool, id);
      const after = changed(before);
      result = after;
      const others = [...versions, ...ownVersions(tool)].filter((one) => one.id !== id);
      if (others.some(({ version }) => version === after.version)) throw taken(tool, after.version);
      return versions.map((one) => (one.id === id ? after : one));
    });
    if (!result) throw missing(tool, id);
    return ok(toolVersionDocument(tool, result));
  };

const remove =
  (tool: Tool) =>
  async (call: Call): Promise<Answer> => {
    const { id } = await changeable(call, tool);
    await change(tool, (versions) => versions.filter((one) => one.id !== id));
    return noContent();
  };

export const toolVersionRoutes: Route[] = tools.flatMap((tool) => {
  const path = `/admin/${tool}-versions` as const;
  return [
    userRoute('GET', path, 'any user', listAll(tool), { 'filter[version]': 'text', 'search[version]': 'text' }),
    userRoute('POST', path, 'any user', create(tool)),
    userRoute('GET', `${path}/{version}`, 'any user', async (call) =>
      ok(toolVersionDocument(tool, await requested(call, tool))),
    ),
    userRoute('PATCH', `${path}/{version}`, 'any user', update(tool)),
    userRoute('DELETE', `${path}/{version}`, 'any user', remove(tool)),
  ];
});
