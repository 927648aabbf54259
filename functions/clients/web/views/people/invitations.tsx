import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
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
                <button
                  type="button"
                  class="small-button"
                  aria-label={`Join ${organization}`}
                  onClick={answer('POST', `${path}/actions/accept`)}
                >
                  Join
                </button>
                <button
                  type="button"
                  class="small-button danger"
                  aria-label={`Decline ${organization}`}
                  onClick={answer('DELETE', path)}
                >
                  Decline
                </button>
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
};
