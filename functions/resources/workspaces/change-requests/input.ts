import * as v from 'valibot';
import { unprocessable } from '#api/errors.ts';
import type { OtherFields } from '#api/known-attributes.ts';
import type { ApiRequest } from '#api/request.ts';
import { readData, text } from '#api/validation.ts';

/** Input of bulk actions (HCP API: explorer, bulk actions). Names have underscores there. */

/** Maximum number of workspaces in one request. */
export const maxTargets = 100;

const settings = {
  action_type: v.picklist(
    ['change_request', 'change_requests'],
    'must be "change_requests": this platform has no other bulk actions',
  ),
  action_inputs: v.strictObject({
    subject: v.pipe(text(250), v.regex(/\S/, 'is empty')),
    message: v.nullish(text(10_000)),
  }),
  target_ids: v.optional(
    v.pipe(
      v.array(text(100)),
      v.minLength(1, 'must name at least one workspace'),
      v.maxLength(maxTargets, `may name ${maxTargets} workspaces at most; send several requests`),
    ),
  ),
  query: v.optional(v.unknown()),
};

const otherFields: OtherFields = { shown: 'created_by organization_id', related: '' };

export interface NewChangeRequests {
  subject: string;
  message: string | null;
  /** Ids of workspaces, without duplicates; if absent, a query selects them. */
  workspaceIds?: string[];
  /** In the explorer's format. */
  query?: unknown;
}

/** @throws {ApiError} 400 or 422 */
export const readBulkAction = (request: ApiRequest): NewChangeRequests => {
  const { attributes } = readData(request, settings, {}, otherFields);
  const { action_inputs: inputs, target_ids: ids, query } = attributes;
  const values = { subject: inputs.subject, message: inputs.message ?? null };
  if (ids && query != null) {
    throw unprocessable('/data/attributes/query', 'query: cannot be given together with target_ids');
  }
  if (query != null) return { ...values, query };
  if (ids) return { ...values, workspaceIds: [...new Set(ids)] };
  throw unprocessable('/data/attributes/target_ids', 'target_ids: is missing. Name the workspaces, or send a query');
};
