import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Resource } from '#clients/client/client.ts';
import { exactTime, timeAfter } from '#clients/client/text/time.ts';
import { clock, useLive } from '#clients/web/live.ts';
import { useAction } from '#clients/web/parts/button.tsx';
import { knowPeople, Person } from '#clients/web/parts/person.tsx';
import { isOver } from '#clients/web/parts/status.tsx';
import { call, create, related } from '#clients/web/session.ts';
import { inOrder, type TimelineEntry } from '#clients/web/text/timeline.ts';

/** Timeline of decisions, comments and status changes. */

const actions: Record<string, string> = {
  created: 'queued the run',
  confirmed: 'confirmed the plan',
  policy_overridden: 'overrode the failed policies',
  discarded: 'discarded the run',
  canceled: 'requested a cancel',
  force_canceled: 'force-canceled the run',
  force_executed: 'moved the run to the front of the queue',
  auto_apply_withdrawn: 'Auto-apply withdrawn, waiting for confirmation',
  commented: 'commented',
  applied: 'Applied',
  planned_and_finished: 'Nothing to apply',
  plan_agent_queued: 'Plan queued for an agent',
  apply_agent_queued: 'Apply queued for an agent',
  plan_runner_replaced: 'Another runner started for the plan',
  apply_runner_replaced: 'Another runner started for the apply',
  errored: 'Errored',
  state_taken_in: 'State kept by the runner restored',
};

const steps: Record<string, string> = {
  'plan-queued-at': 'Left the queue',
  'fetched-at': 'Configuration fetched',
  'pre-plan-running-at': 'Pre-plan tasks started',
  'pre-plan-completed-at': 'Pre-plan tasks completed',
  'planning-at': 'Plan started',
  'planned-at': 'Plan finished',
  'post-plan-running-at': 'Post-plan checks started',
  'post-plan-completed-at': 'Post-plan checks completed',
  'cost-estimated-at': 'Costs estimated',
  'policy-override-at': 'Policies failed, override required',
  'policy-checked-at': 'Policies checked',
  'planned-and-saved-at': 'Plan saved',
  'pre-apply-running-at': 'Pre-apply tasks started',
  'pre-apply-completed-at': 'Pre-apply tasks completed',
  'apply-queued-at': 'Apply queued',
  'applying-at': 'Apply started',
  'post-apply-running-at': 'Post-apply tasks started',
  'post-apply-completed-at': 'Post-apply tasks completed',
};

const momentOf = (event: Resource<'run-events'>, comments: Map<string, Resource<'comments'>>): TimelineEntry => {
  const { action, description } = event.attributes;
  const comment = comments.get(related(event, 'comment') ?? '');
  const actor = related(event, 'actor');
  const ended: Record<string, string> = { discarded: 'Discarded', canceled: 'Canceled' };
  const text = (actor ? undefined : ended[action]) ?? actions[action] ?? String(action).replaceAll('_', ' ');
  return {
    at: event.attributes['created-at'],
    text,
    actor,
    end: actor === undefined,
    comment: comment?.attributes.body ?? description ?? undefined,
  };
};

export const Timeline = ({ run }: { run: Resource<'runs'> }) => {
  const { status, actions: allowed } = run.attributes;
  const events = useLive(
    `events/${run.id}`,
    async () => {
      const { data, included } = await call<Resource[]>('GET', `/runs/${run.id}/run-events?include=actor,comment`);
      knowPeople(included);
      const comments = new Map(included?.map((resource) => [resource.id, resource]));
      return data.map((event) => momentOf(event, comments));
    },
    // Events change with the run; the comment of the last action may arrive a moment later.
    isOver(run) ? undefined : 10_000,
  );
  // Keep showing the loaded events meanwhile.
  const runState = `${status} ${JSON.stringify(allowed)}`;
  const before = useRef(runState);
  useEffect(() => {
    if (before.current !== runState) events.refresh();
    before.current = runState;
  }, [runState]);
  const stamps = run.attributes['status-timestamps'] as Record<string, string>;
  const passed = Object.entries(steps).flatMap(([key, text]) => (stamps[key] ? [{ at: stamps[key], text }] : []));
  const moments = inOrder([...(events.value ?? []), ...passed]);
  return (
    <section class="panel pad stack">
      <h2>Timeline</h2>
      <ol class="timeline">
        {moments.map(({ at, text, actor, comment }, i) => (
          <li key={`${at} ${text}`}>
            <div class="moment">
              <span>
                {actor && (
                  <strong>
                    <Person id={actor} />{' '}
                  </strong>
                )}
                {text}
              </span>
              <time class="soft small nowrap" dateTime={at} title={exactTime(at)}>
                {timeAfter(at, moments[i - 1]?.at ?? clock.value)}
              </time>
            </div>
            {comment && <blockquote>{comment}</blockquote>}
          </li>
        ))}
      </ol>
      {run.attributes.permissions['can-comment'] && <CommentForm run={run} onSaid={events.refresh} />}
    </section>
  );
};

const CommentForm = ({ run, onSaid }: { run: Resource<'runs'>; onSaid(): void }) => {
  const text = useSignal('');
  const { failure, perform } = useAction();
  const say = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!(await perform(() => create(`/runs/${run.id}/comments`, 'comments', { body: text.value.trim() })))) return;
    text.value = '';
    onSaid();
  };
  return (
    <form class="comment" onSubmit={say}>
      <textarea
        rows={2}
        aria-label="Add a comment"
        placeholder="Add a comment"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
      {failure}
      <div>
        <button type="submit" class="small-button" disabled={text.value.trim() === ''}>
          Comment
        </button>
      </div>
    </form>
  );
};
