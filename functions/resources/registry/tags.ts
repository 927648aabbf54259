import * as v from 'valibot';
import type { Answer } from '#api/answer.ts';
import { wholeList } from '#api/pagination.ts';
import type { Context } from '#api/route.ts';
import { bindingOf, distinct, type Tag, tagBindingDocuments, tagBindingList } from '#resources/projects/tags.ts';

/** Tags of modules and providers. A change that contains tags replaces all of them, as in HCP Terraform. */

export const tagRelationship = { 'tag-bindings': v.optional(v.object({ data: tagBindingList })) };

type Relationships = v.InferOutput<v.ObjectSchema<typeof tagRelationship, undefined>>;

/** Without `tags` if the change does not contain them. */
export const tagsIn = ({ 'tag-bindings': bindings }: Relationships): { tags?: Tag[] } =>
  bindings ? { tags: distinct(bindings.data.map(bindingOf)) } : {};

type Tagged = Parameters<typeof tagBindingDocuments>[0];

export const listTags = async ({ request, subject }: Context<Tagged & { organization: string }>): Promise<Answer> =>
  wholeList(request, tagBindingDocuments(subject));
