import { count } from '#clients/client/text/time.ts';
import { Dialog } from '#clients/web/parts/dialog.tsx';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import type { DirectAction } from '#run/status.ts';

export const actionNames: Record<DirectAction, string> = {
  apply: 'Confirm & Apply',
  discard: 'Discard',
  cancel: 'Cancel Run',
  'force-cancel': 'Force cancel',
  'force-execute': 'Run this now',
};

interface Props {
  action: DirectAction;
  /** Shows a comment field. */
  says: boolean;
  /** Terraform is changing resources. */
  applying: boolean;
  /** Number of resources that the plan destroys. */
  destroyed: number;
  workspace: string;
  /** Message of the run that is ahead in the queue. */
  front: string;
  onYes(action: DirectAction, comment?: string): Promise<void>;
  onNo(): void;
}

/** Asks for confirmation before an action that cannot be undone. */
export const ConfirmAction = (props: Props) => {
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
        {says && <Text label="Comment" name="comment" hint="Shown in the timeline." />}
      </Form>
    </Dialog>
  );
};

const titles: Record<DirectAction, string> = {
  apply: 'Apply a plan that destroys resources?',
  discard: 'Discard this run?',
  cancel: 'Cancel this run?',
  'force-cancel': 'Force cancel this run?',
  'force-execute': 'Discard the current run?',
};

const consequence = ({ action, applying, destroyed, front, workspace }: Props) => {
  switch (action) {
    case 'apply':
      return (
        <>
          This destroys <strong>{count(destroyed, 'resource')}</strong> in <strong>{workspace}</strong>. Their data may
          be lost permanently.
        </>
      );
    case 'discard':
      return 'It will not be applied, and the next run in the queue starts.';
    case 'cancel':
      return applying
        ? 'Terraform stops as it does on Ctrl-C: it finishes the operations in progress, skips the rest and saves its state.'
        : 'No resources have been changed.';
    case 'force-cancel':
      return 'Terraform is killed at once. Resources in progress may be left incomplete, and the latest changes may be missing from the state.';
    case 'force-execute':
      return (
        <>
          The current run, <strong>{front}</strong>, is discarded, and this run starts before all other runs of{' '}
          <strong>{workspace}</strong>.
        </>
      );
  }
};
