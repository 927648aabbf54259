import * as v from 'valibot';
import type { Answer, Resource } from '#api/answer.ts';
import { deletedMeanwhile } from '#api/errors.ts';
import { wholeList } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { readWhole } from '#api/validation.ts';
import { project } from './finder.ts';
import { getProject, type Project, updateProject } from './records.ts';
import { bindingOf, checkTagCount, distinct, type Tag, tagBindingDocuments, tagBindingList } from './tags.ts';

/** Tags of a project, which its workspaces inherit. */

const tagsIn = ({ request }: Context<Project>): Tag[] =>
  readWhole(request, v.object({ data: tagBindingList })).data.map(bindingOf);

/** Preserves concurrent changes: after a conflict the tags are read again. */
const write = async (
  { subject, principal: { userId } }: Context<Project>,
  tagsOf: (project: Project) => Tag[],
): Promise<Project> => {
  for (let project: Project | undefined = subject; project; project = await getProject(subject.id)) {
    const editor = { userId, edits: project.edits ?? 0 };
    const tags = distinct(tagsOf(project));
    checkTagCount('project', tags, project.tags);
    const updated = await updateProject(project, { tags }, editor);
    if (updated) return updated;
  }
  throw deletedMeanwhile('project');
};

const adding = (context: Context<Project>): Promise<Project> => {
  const tags = tagsIn(context);
  return write(context, (project) => [...(project.tags ?? []), ...tags]);
};

const list = async ({ request, subject }: Context<Project>): Promise<Answer> =>
  wholeList(request, tagBindingDocuments(subject));

/** A project does not inherit tags. */
export const effectiveBindings = (project: Project): Resource[] =>
  tagBindingDocuments(project).map(({ id, attributes: { key, value } }) => ({
    id,
    type: 'effective-tag-bindings',
    attributes: { key, value },
  }));

const effective = async ({ request, subject }: Context<Project>): Promise<Answer> =>
  wholeList(request, effectiveBindings(subject));

const addAndList = async (context: Context<Project>): Promise<Answer> =>
  wholeList(context.request, tagBindingDocuments(await adding(context)));

const add = noContentAfter((_: Project, context) => adding(context));

const replace = noContentAfter(async (_: Project, context) => {
  const tags = tagsIn(context);
  await write(context, () => tags);
});

const base = '/projects/{project}';

export const projectTagRoutes: Route[] = [
  route('GET', `${base}/tag-bindings`, 'project:read', project, list),
  route('PATCH', `${base}/tag-bindings`, 'project:update', project, addAndList),
  route('GET', `${base}/relationships/tag-bindings`, 'project:read', project, list),
  route('POST', `${base}/relationships/tag-bindings`, 'project:update', project, add),
  route('PATCH', `${base}/relationships/tag-bindings`, 'project:update', project, replace),
  route('GET', `${base}/effective-tag-bindings`, 'project:read', project, effective),
];
