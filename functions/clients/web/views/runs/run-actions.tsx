import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ApiError, type Resource } from '#clients/client/client.ts';
import { offeredActions, slotWaitOf, waitsForOverride } from '#clients/client/run-facts.ts';
import { finishing } from '#clients/client/text/canceling.ts';
import { fetchRetry } from '#clients/client/text/fetching.ts';
import { useSettled } from '#clients/web/click-guard.ts';
import { clock } from '#clients/web/live.ts';
import { hrefOf } from '#clients/web/location.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Changes } from '#clients/web/parts/changes.tsx';
import { Decision } from '#clients/web/parts/decision.tsx';
import { factsOf, isOver } from '#clients/web/parts/status.tsx';
import { call, errorText } from '#clients/web/session.ts';
import { runActions } from '#run/actions.ts';
import { displayStatus } from '#run/display.ts';
import type { DirectAction, RunStatus } from '#run/status.ts';
import { actionNames, ConfirmAction } from './confirm-action.tsx';

interface Props {
  run: Resource<'runs'>;
  plan: Resource<'plans'> | undefined;
  workspace: Resource<'workspaces'> | undefined;
  /** The run that this one waits for. */
  front: Resource<'runs'> | undefined;
  /** Why the run waits. */
  words: ComponentChildren;
  /** Error of the last action. Kept outside, because this component is replaced when the run moves on. */
  error: Signal<string | undefined>;
  refresh(): void;
}

/**
 * Confirming takes its comment here; other actions ask for one in their dialog. Failed
 * policies are overridden next to their results.
 */
export const RunActions = ({ run, plan, workspace, front, words, error, refresh }: Props) => {
  const comment = useSignal('');
  const busy = useSignal<DirectAction | undefined>(undefined);
  const asking = useSignal<DirectAction | undefined>(undefined);
  const actions = offeredActions(run, front).filter((action): action is DirectAction => action !== 'override');
  const decides = !isOver(run) && run.attributes.actions['is-confirmable'];
  const overrides = !isOver(run) && waitsForOverride(run);
  const settled = useSettled(`${run.attributes.status} ${actions} ${busy.value}`);
  const destroyed: number = plan?.attributes['resource-destructions'] ?? 0;

  const act = async (action: DirectAction, text = comment.value.trim()) => {
    busy.value = action;
    error.value = undefined;
    try {
      await call('POST', `/runs/${run.id}/actions/${action}`, text ? { comment: text } : {});
      comment.value = '';
    } catch (caught) {
      // Another user decided at the same time; the next poll shows the result.
      const beaten = caught instanceof ApiError && caught.status === 409;
      error.value = beaten ? `The run has changed since you loaded it. ${errorText(caught)}` : errorText(caught);
    }
    asking.value = undefined;
    busy.value = undefined;
    refresh();
  };
  const start = (action: DirectAction) => {
    if (!decides || (action === 'apply' && destroyed > 0)) asking.value = action;
    else act(action);
  };
  if (isOver(run) || (actions.length === 0 && !words)) return null;
  return (
    <section
      class={`act ${decides ? 'attention at-hand' : overrides ? 'attention' : words ? '' : 'bare'}`}
      aria-label="Actions"
    >
      {error.value && <Notice kind="bad">{error.value}</Notice>}
      <div class="row spread">
        {words && <strong>{words}</strong>}
        {decides && plan && <Changes of={plan} />}
        <ForceCancelSoon run={run} />
        {!decides && <Buttons actions={actions} busy={busy.value} settled={settled} onStart={start} />}
      </div>
      {decides && actions.length > 0 && (
        <div class="row">
          <div class="grow">
            <textarea
              rows={1}
              aria-label="Comment"
              placeholder="Comment (optional)"
              value={comment.value}
              onInput={(event) => {
                comment.value = event.currentTarget.value;
              }}
            />
          </div>
          <Buttons actions={actions} busy={busy.value} settled={settled} onStart={start} />
        </div>
      )}
      {asking.value && (
        <ConfirmAction
          action={asking.value}
          says={!decides}
          applying={run.attributes.status === 'applying'}
          destroyed={destroyed}
          workspace={workspace?.attributes.name ?? ''}
          front={front?.attributes.message ?? ''}
          onYes={act}
          onNo={() => (asking.value = undefined)}
        />
      )}
    </section>
  );
};

interface ButtonsProps {
  actions: DirectAction[];
  busy: DirectAction | undefined;
  settled: boolean;
  onStart(action: DirectAction): void;
}

const Buttons = ({ actions, busy, settled, onStart }: ButtonsProps) => (
  <div class="row">
    {actions.map((action) => (
      <Decision
        key={action}
        class={looks[action]}
        settled={settled}
        disabled={busy !== undefined}
        onClick={() => onStart(action)}
      >
        {busy === action ? 'Working …' : actionNames[action]}
      </Decision>
    ))}
  </div>
);

const looks: Record<DirectAction, string> = {
  apply: 'primary',
  discard: 'danger',
  cancel: 'danger',
  'force-cancel': 'danger primary',
  'force-execute': '',
};

/** Why the run waits, as text; undefined if it does not wait. */
export const wordsFor = ({
  run,
  workspace,
  front,
  organization,
}: Pick<Props, 'run' | 'workspace' | 'front'> & { organization: string }): ComponentChildren => {
  const { actions, permissions, status } = run.attributes;
  if (isOver(run)) return undefined;
  if (run.attributes['canceled-at']) return <Canceling run={run} />;
  if (actions['is-confirmable']) {
    return permissions['can-apply']
      ? 'Needs confirmation'
      : 'Waiting for confirmation by someone with apply permission';
  }
  if (waitsForOverride(run)) {
    return permissions['can-override-policy-check']
      ? 'Policies failed: override them above, or discard the run'
      : 'Policies failed: waiting for someone with permission to override them';
  }
  const retry = fetchRetry(run);
  if (retry) return `Waiting ${retry}`;
  const slot = slotWaitOf(run);
  if (slot) return `Waiting ${slot}`;
  if (status !== 'pending') return undefined;
  if (front && workspace) {
    const href = hrefOf({ view: 'run', organization, workspace: workspace.attributes.name, run: front.id });
    return (
      <>
        Waiting for <a href={href}>{front.attributes.message}</a>: {displayStatus(factsOf(front)).name}
      </>
    );
  }
  return workspace?.attributes.locked ? 'Waiting until the workspace is unlocked' : 'Waiting in the queue';
};

const Canceling = ({ run }: { run: Resource<'runs'> }) => {
  const open = finishing(run, clock.value);
  const { status } = run.attributes;
  const instead = runActions.cancel.description({ status: status as RunStatus });
  if (instead) return <>{instead}</>;
  return open ? (
    <>Canceling. Terraform finishes the changes in progress: {open}</>
  ) : (
    <>Cancel requested. Terraform is stopping and will save its state.</>
  );
};

const ForceCancelSoon = ({ run: { attributes } }: { run: Resource<'runs'> }) => {
  const at = attributes['force-cancel-available-at'];
  if (!at || attributes.actions['is-force-cancelable'] || !attributes.permissions['can-force-cancel']) return null;
  const seconds = Math.ceil((Date.parse(at) - clock.value) / 1000);
  return seconds > 0 ? <span class="soft">Force cancel available in {seconds} s</span> : null;
};
