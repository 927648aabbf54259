import { useSignal } from '@preact/signals';
import { ApiError } from '#clients/client/client.ts';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { call, errorText } from '#clients/web/session.ts';

export interface Override {
  /** API path to override failed policies; undefined without permission, or while the run does not wait for it. */
  path: string | undefined;
  refresh(): void;
}

/** Overrides failed policies, next to their results and only with a reason; separate from the confirmation. */
export const OverrideForm = ({ path, autoApply, refresh }: { path: string; autoApply: boolean; refresh(): void }) => {
  const reason = useSignal('');
  const submit = async (data: FormData) => {
    try {
      await call('POST', path, { comment: textOf(data, 'reason') });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      refresh();
      throw new Error(`The run has changed since you loaded it. ${errorText(error)}`);
    }
    refresh();
  };
  return (
    <section class="override" aria-label="Override failed policies">
      <h3>Override failed policies</h3>
      <Form submit="Override policies" danger disabled={reason.value.trim() === ''} onSubmit={submit}>
        <Text
          label="Reason"
          name="reason"
          required
          lines={2}
          hint={`Recorded in the timeline with your name. ${
            autoApply ? 'The run then applies without confirmation.' : 'The run then waits for confirmation.'
          }`}
          onInput={(text) => {
            reason.value = text;
          }}
        />
      </Form>
    </section>
  );
};
