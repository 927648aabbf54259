import * as v from 'valibot';
import { type Project, updateProject } from '../../../store/workspaces/projects.ts';
import type { Tag } from '../../../store/workspaces/workspace-names.ts';
import { type Answer, noContent } from '../../answer.ts';
import { tagBindingDocuments } from '../../documents/workspaces.ts';
import { notFound } from '../../errors.ts';
import { project } from '../../finders.ts';
import { check } from '../../input/validation.ts';
import { bindingOf, distinct, tagBindingList } from '../../input/workspace-input.ts';
import { wholeList } from '../../pagination.ts';
import { type Context, type Route, route } from '../../route.ts';

/** Tags of a project, which its workspaces have too. */

const given = ({ request }: Context<Project>): Tag[] =>
  check(v.object({ data: tagBindingList }), request.json() ?? {}).data.map(bindingOf);

const write = async (subject: Project, tags: Tag[]): Promise<Project> => {
  const updated = await updateProject(subject, { tags: distinct(tags) });
  if (!updated) throw notFound();
  return updated;
};

const list = async ({ request, subject }: Context<Project>): Promise<Answer> =>
  wholeList(request, tagBindingDocuments(subject));

const effective = async ({ request, subject }: Context<Project>): Promise<Answer> =>
  wholeList(
    request,
    tagBindingDocuments(subject).map(({ id, attributes: { key, value } }) => ({
      id,
      type: 'effective-tag-bindings',
      attributes: { key, value },
    })),
  );

const addAndList = async (context: Context<Project>): Promise<Answer> => {
  const updated = await write(context.subject, [...(context.subject.tags ?? []), ...given(context)]);
  return wholeList(context.request, tagBindingDocuments(updated));
};

const add = async (context: Context<Project>): Promise<Answer> => {
  await write(context.subject, [...(context.subject.tags ?? []), ...given(context)]);
  return noContent();
};

const replace = async (context: Context<Project>): Promise<Answer> => {
  await write(context.subject, given(context));
  return noContent();
};

const base = '/projects/{project}';

export const projectTagRoutes: Route[] = [
  route('GET', `${base}/tag-bindings`, 'project:read', project, list),
  route('PATCH', `${base}/tag-bindings`, 'project:update', project, addAndList),
  route('GET', `${base}/relationships/tag-bindings`, 'project:read', project, list),
  route('POST', `${base}/relationships/tag-bindings`, 'project:update', project, add),
  route('PATCH', `${base}/relationships/tag-bindings`, 'project:update', project, replace),
  route('GET', `${base}/effective-tag-bindings`, 'project:read', project, effective),
];
