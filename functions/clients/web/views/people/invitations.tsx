import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { SmallButton } from '#clients/web/parts/small-button.tsx';
import { call, errorText, related } from '#clients/web/session.ts';

export const invitationsPath = '/organization-memberships?filter[status]=invited';

/** Pending invitations of the user. */
export const Invitations = ({
  invitations,
  onAnswer,
}: {
  invitations: Resource<'organization-memberships'>[];
  onAnswer(): void;
}) => {
  const failed = useSignal<string | undefined>(undefined);
  const answer = (method: 'POST' | 'DELETE', path: string) => async () => {
    try {
      await call(method, path);
      failed.value = undefined;
    } catch (error) {
      failed.value = errorText(error);
    }
    onAnswer();
  };
  if (invitations.length === 0) return null;
  return (
    <section class="stack" aria-label="Invitations">
      <h2>Invitations</h2>
      {failed.value && <Notice kind="bad">{failed.value}</Notice>}
      <ul class="panel list">
        {invitations.map((invitation) => {
          const organization = related(invitation, 'organization');
          const path = `/organization-memberships/${invitation.id}`;
          return (
            <li key={invitation.id} class="item">
              <span class="title">{organization}</span>
              <span class="meta">to {invitation.attributes.email}</span>
              <span class="end row">
                <SmallButton text="Join" of={organization} onClick={answer('POST', `${path}/actions/accept`)} />
                <SmallButton text="Decline" of={organization} danger onClick={answer('DELETE', path)} />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
};
