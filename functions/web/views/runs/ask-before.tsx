import type { RunAction } from '../../../client/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, Text, textOf } from '../../parts/form.tsx';

export const actionNames: Record<RunAction, string> = {
  apply: 'Confirm & Apply',
  discard: 'Discard',
  cancel: 'Cancel Run',
  'force-cancel': 'Force cancel',
  'force-execute': 'Run this now',
};

interface Props {
  action: RunAction;
  /** It may be given a comment here. */
  says: boolean;
  /** Terraform is changing things right now. */
  applying: boolean;
  /** How many resources the plan destroys. */
  destroyed: number;
  workspace: string;
  /** Message of the run in front. */
  front: string;
  onYes(action: RunAction, comment?: string): Promise<void>;
  onNo(): void;
}

/** Asks once more before what cannot be undone. */
export const AskBefore = (props: Props) => {
  const { action, says, applying, destroyed, onYes, onNo } = props;
  return (
    <Dialog title={titles[action]} onClose={onNo}>
      <Form
        submit={actionNames[action]}
        back="Go back"
        danger
        meaning={`${action} ${applying} ${destroyed}`}
        onSubmit={(data) => onYes(action, says ? (textOf(data, 'comment') ?? '') : undefined)}
        onCancel={onNo}
      >
        <p>{consequence(props)}</p>
        {says && <Text label="Comment" name="comment" hint="Others see it in the timeline." />}
      </Form>
    </Dialog>
  );
};

const titles: Record<RunAction, string> = {
  apply: 'Apply a plan that destroys?',
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
