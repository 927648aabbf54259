import * as v from 'valibot';
import type { ApiRequest } from '#api/request.ts';
import { check, text } from '#api/validation.ts';
import { optionalWebAddress } from '#api/web-address.ts';
import { reportedStatuses, tagLevels } from '#run/task-stages.ts';
import { maxOutcomes, type NewOutcome } from './outcomes.ts';
import { maxMessage } from './results.ts';

/** Input of a run task's result. */

const optionalLink = optionalWebAddress(500);

const tag = v.object({
  label: text(255),
  level: v.nullish(v.picklist(tagLevels)),
});

const tags = v.pipe(
  v.record(text(255), v.pipe(v.array(tag), v.maxLength(50, 'may have at most 50 tags'))),
  v.check((tags) => Object.keys(tags).length <= 50, 'may have at most 50 names'),
);

const outcome = v.object({
  type: v.literal('task-result-outcomes', 'must be "task-result-outcomes"'),
  attributes: v.object({
    'outcome-id': v.pipe(text(255), v.minLength(1, 'must not be empty')),
    description: text(1000),
    body: v.nullish(v.string()),
    url: optionalLink,
    tags: v.nullish(tags),
  }),
});

const relationships = v.nullish(
  v.object({
    outcomes: v.nullish(
      v.object({
        data: v.nullish(v.pipe(v.array(outcome), v.maxLength(maxOutcomes, `may have at most ${maxOutcomes} outcomes`))),
      }),
    ),
  }),
);

const body = v.object({
  data: v.object({
    type: v.literal('task-results', 'must be "task-results"'),
    attributes: v.object({
      status: v.picklist(reportedStatuses),
      message: v.nullish(text(maxMessage)),
      url: optionalLink,
    }),
    relationships,
  }),
  /** HCP's documentation has the relationships here. */
  relationships,
});

const outcomeOf = ({ attributes }: v.InferOutput<typeof outcome>): NewOutcome => ({
  outcomeId: attributes['outcome-id'],
  description: attributes.description,
  body: attributes.body || null,
  url: attributes.url || null,
  tags: Object.entries(attributes.tags ?? {}).map(([label, value]) => ({
    label,
    value: value.map((tag) => ({ label: tag.label, level: tag.level ?? 'none' })),
  })),
});

export interface TaskCallback {
  status: (typeof reportedStatuses)[number];
  message?: string;
  url?: string;
  outcomes: NewOutcome[];
}

/** @throws {ApiError} 400 or 422 */
export const readCallback = (request: ApiRequest): TaskCallback => {
  const { data, relationships: beside } = check(body, request.json() ?? {});
  const outcomes = (data.relationships ?? beside)?.outcomes?.data ?? [];
  return {
    status: data.attributes.status,
    message: data.attributes.message ?? undefined,
    url: data.attributes.url || undefined,
    outcomes: outcomes.map(outcomeOf),
  };
};
