import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import type { PolicySetResult } from '#clients/client/documents.ts';
import { messageOf, policyCheckPart, policyEvaluationPart } from '#clients/client/run-facts.ts';
import { count } from '#clients/client/text/time.ts';
import { useLive } from '#clients/web/live.ts';
import { Ago, Loaded, Notice } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/button.tsx';
import { Tags } from '#clients/web/parts/list.tsx';
import { Person } from '#clients/web/parts/person.tsx';
import { Fold } from '#clients/web/parts/section.tsx';
import { all, get, related } from '#clients/web/session.ts';
import { type Override, OverrideForm } from '../runs/override.tsx';

interface Judged {
  /** The policy check, or the policy evaluation. */
  judgement: Resource<'policy-checks'> | Resource<'policy-evaluations'>;
  sets: PolicySetResult[];
}

const loadCheck = async (id: string): Promise<Judged> => {
  const judgement = await get<'policy-checks'>(`/policy-checks/${id}`);
  return { judgement, sets: judgement.attributes.result?.sentinel['policy-sets'] ?? [] };
};

const loadEvaluation = async (id: string): Promise<Judged> => {
  const judgement = await get<'policy-evaluations'>(`/policy-evaluations/${id}`);
  const { data } = await all<'policy-set-outcomes'>(`/policy-evaluations/${id}/policy-set-outcomes`);
  return { judgement, sets: data.map(({ attributes }) => attributes) };
};

interface RunProps {
  run: Resource<'runs'>;
  override: Override;
}

/** OPA policies, evaluated in the post-plan stage. */
export const PolicyEvaluation = ({ run, stages, override }: RunProps & { stages: Resource<'task-stages'>[] }) => {
  const id = stages.map((stage) => related(stage, 'policy-evaluations')).find((id) => id !== undefined);
  const own = run.attributes.status === 'post_plan_awaiting_decision' ? override : undefined;
  return id ? (
    <Panel part={policyEvaluationPart} title="Policies" id={id} run={run} load={loadEvaluation} override={own} />
  ) : null;
};

/** Policies with three enforcement levels, checked last. */
export const PolicyCheck = ({ run, override }: RunProps) => {
  const id = related(run, 'policy-checks');
  const own = run.attributes.status === 'policy_override' ? override : undefined;
  return id ? (
    <Panel part={policyCheckPart} title="Policy check" id={id} run={run} load={loadCheck} override={own} />
  ) : null;
};

interface Props {
  /** Its fragment. */
  part: string;
  title: string;
  id: string;
  run: Resource<'runs'>;
  load(id: string): Promise<Judged>;
  /** While the run waits for an override. */
  override: Override | undefined;
}

/** Results come with a status change of the run, so each is read once. */
const Panel = ({ part, title, id, run, load, override }: Props) => {
  const waits = override?.path !== undefined && run.attributes.permissions['can-override-policy-check'];
  const live = useLive(`${id}/${run.attributes.status}`, () => load(id));
  const status: string | undefined = live.value?.judgement.attributes.status;
  return (
    <Fold
      id={part}
      title={title}
      status={status && (words[status] ?? status)}
      summary={live.value && <Counts sets={live.value.sets} />}
      open={waits || (status !== undefined && telling.has(status))}
    >
      {() => (
        <div class="pad stack">
          <Loaded live={live} what={title.toLowerCase()}>
            {(judged) => <Details {...judged} />}
          </Loaded>
          {waits && live.value && override?.path && (
            <OverrideForm path={override.path} autoApply={run.attributes['auto-apply']} refresh={override.refresh} />
          )}
        </div>
      )}
    </Fold>
  );
};

/** Results that are shown expanded. */
const telling = new Set(['failed', 'soft_failed', 'hard_failed', 'errored', 'overridden']);

const words: Record<string, string> = {
  pending: 'not started',
  queued: 'checking',
  running: 'evaluating',
  passed: 'passed',
  failed: 'failed',
  soft_failed: 'failed, can be overridden',
  hard_failed: 'failed',
  overridden: 'overridden',
  errored: 'evaluation failed',
  canceled: 'canceled',
  unreachable: 'not reached',
};

const Counts = ({ sets }: { sets: PolicySetResult[] }) => {
  const outcomes = sets.flatMap((set) => set.outcomes);
  if (outcomes.length === 0) return null;
  const passed = outcomes.filter(({ status }) => status === 'passed').length;
  const failed = outcomes.length - passed;
  return (
    <span class="summary">
      {passed > 0 && <span class="add">{passed} passed</span>}
      {failed > 0 && <span class="destroy">{failed} failed</span>}
    </span>
  );
};

const Details = ({ judgement, sets }: Judged) => {
  const { override } = judgement.attributes;
  return (
    <>
      {override && (
        <Notice kind="warn">
          Overridden by <Person id={override.by} /> <Ago at={override.at} />
          {override.comment && <>: {override.comment}</>}
        </Notice>
      )}
      {sets.length === 0 && <p class="soft">No policies evaluated.</p>}
      {sets.map((set, i) => (
        <section key={i} class="stack" aria-label={`policy set ${set['policy-set-name']}`}>
          <h3 class="small soft">{set['policy-set-name']}</h3>
          {set.error && <Notice kind="bad">{set.error}</Notice>}
          <ul class="plain policies">
            {set.outcomes.map((outcome) => (
              <Policy key={outcome.policy_name} {...outcome} />
            ))}
          </ul>
          {set.warnings.map((warning) => (
            <Notice key={warning} kind="warn">
              {warning}
            </Notice>
          ))}
        </section>
      ))}
    </>
  );
};

/** Longer lists are expanded on request. */
const atFirst = 10;

const Policy = ({
  policy_name,
  description,
  enforcement_level,
  query,
  status,
  output,
}: PolicySetResult['outcomes'][number]) => {
  const whole = useSignal(false);
  const messages = (output ?? []).map(messageOf);
  const hidden = messages.length - atFirst;
  return (
    <li>
      <p class="row">
        <strong class={status === 'passed' ? 'add' : enforcement_level === 'advisory' ? 'change' : 'destroy'}>
          {marks[status] ?? status}
        </strong>
        <strong class="break">{policy_name}</strong>
        <Tags of={[enforcement_level]} />
      </p>
      {description && <p class="soft break">{description}</p>}
      {status !== 'passed' && query && <code class="small break">{query}</code>}
      {messages.length > 0 && (
        <ul class="messages">
          {(whole.value ? messages : messages.slice(0, atFirst)).map((message, i) => (
            <li key={i} class="break">
              {message}
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && !whole.value && (
        <SmallButton text={`Show ${count(hidden, 'more message')}`} onClick={() => (whole.value = true)} />
      )}
    </li>
  );
};

const marks: Record<string, string> = { passed: 'Passed', failed: 'Failed', errored: 'Evaluation failed' };
