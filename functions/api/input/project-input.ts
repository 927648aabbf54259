import * as v from 'valibot';
import { getOrganization } from '../../store/access/organizations.ts';
import type { Project } from '../../store/workspaces/projects.ts';
import type { ApiRequest } from '../request.ts';
import { projectName } from './names.ts';
import { readData, setting, text } from './validation.ts';
import { bindingOf, distinct, tagBindingList } from './workspace-input.ts';

/** What creating and changing a project may say (HCP API: projects). */

const attributes = {
  description: setting(text(256)),
  'default-execution-mode': setting(v.picklist(['remote', 'local'])),
  'setting-overwrites': v.nullish(v.object({ 'default-execution-mode': v.nullish(v.boolean()) })),
};

const relationships = { 'tag-bindings': v.optional(v.object({ data: tagBindingList })) };

type Given = ReturnType<typeof readChange>;

const readChange = (request: ApiRequest) =>
  readData(request, { ...attributes, name: v.optional(projectName) }, relationships);

/** What is given, and what follows from it: a mode of its own, or the organization's. */
const changeOf = async ({ attributes: given, relationships: related }: Given, organization: string) => {
  const change: Partial<Project> = {};
  if (given.name !== undefined) change.name = given.name;
  if (given.description !== undefined) change.description = given.description;
  const mode = given['default-execution-mode'];
  const overwrites = given['setting-overwrites']?.['default-execution-mode'];
  if (overwrites === false || mode === null) {
    change.inheritsExecutionMode = true;
    change.defaultExecutionMode = (await getOrganization(organization))?.defaultExecutionMode ?? 'remote';
  } else if (mode !== undefined || overwrites) {
    change.inheritsExecutionMode = false;
    if (mode) change.defaultExecutionMode = mode;
  }
  const tags = related['tag-bindings']?.data;
  if (tags) change.tags = distinct(tags.map(bindingOf));
  return change;
};

/** @throws {ApiError} 400 or 422 */
export const readProjectChange = async (request: ApiRequest, { organization }: Project): Promise<Partial<Project>> =>
  changeOf(readChange(request), organization);

/** @throws {ApiError} 400 or 422 */
export const readNewProject = async (request: ApiRequest, organization: string) => {
  const given = readData(request, { ...attributes, name: projectName }, relationships);
  const { name } = given.attributes;
  const home = await getOrganization(organization);
  const inherited = { inheritsExecutionMode: true, defaultExecutionMode: home?.defaultExecutionMode ?? 'remote' };
  return { description: null, ...inherited, ...(await changeOf(given, organization)), organization, name };
};
