import type { Action } from '../../cli/run-facts.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form, Text, textOf } from '../parts/form.tsx';

export const actionNames: Record<Action, string> = {
  apply: 'Confirm & Apply',
  override: 'Override Policies',
  discard: 'Discard',
  cancel: 'Cancel Run',
  'force-cancel': 'Force cancel',
  'force-execute': 'Run this now',
};

interface Props {
  action: Action;
  /** It may be given a comment here. */
  says: boolean;
  /** Terraform is changing things right now. */
  applying: boolean;
  /** How many resources the plan destroys. */
  destroyed: number;
  workspace: string;
  /** Message of the run in front. */
  front: string;
  onYes(action: Action, comment?: string): Promise<void>;
  onNo(): void;
}

/** Asks once more before what cannot be undone. */
export const AskBefore = (props: Props) => {
  const { action, says, onYes, onNo } = props;
  return (
    <Dialog title={titles[action]} onClose={onNo}>
      <Form
        submit={actionNames[action]}
        back="Go back"
        danger
        onSubmit={(data) => onYes(action, says ? (textOf(data, 'comment') ?? '') : undefined)}
        onCancel={onNo}
      >
        <p>{consequence(props)}</p>
        {says && <Text label="Comment" name="comment" hint="Others see it in the timeline." />}
      </Form>
    </Dialog>
  );
};

const titles: Record<Action, string> = {
  apply: 'Apply a plan that destroys?',
  override: 'Override the failed policies?',
  discard: 'Discard this run?',
  cancel: 'Cancel this run?',
  'force-cancel': 'Force the cancel?',
  'force-execute': 'Discard the run in front?',
};

const consequence = ({ action, applying, destroyed, front, workspace }: Props) => {
  switch (action) {
    case 'apply':
      return (
        <>
          This destroys <strong>{destroyed}</strong> of the resources of <strong>{workspace}</strong>. What they hold
          may be lost for good.
        </>
      );
    case 'override':
      return 'The run goes on although policies failed. Who did that, and why, stays in its timeline.';
    case 'discard':
      return 'It never starts, and the next run in line takes its place.';
    case 'cancel':
      return applying
        ? 'Terraform stops as it does on Ctrl-C: it finishes what it is working on, leaves out the rest, and keeps its state.'
        : 'Nothing has been changed yet, and nothing will be.';
    case 'force-cancel':
      return 'Terraform is killed where it stands. What it was working on may be left half done, and changes of the last seconds may be missing in the state.';
    case 'force-execute':
      return (
        <>
          The run in front, <strong>{front}</strong>, is discarded, and this one starts before all others of{' '}
          <strong>{workspace}</strong>.
        </>
      );
  }
};
