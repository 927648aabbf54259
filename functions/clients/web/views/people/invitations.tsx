import type { Resource } from '#clients/client/client.ts';
import { ActionButton } from '#clients/web/parts/button.tsx';
import { Item, List } from '#clients/web/parts/list.tsx';
import { Section } from '#clients/web/parts/section.tsx';
import { call, related } from '#clients/web/session.ts';

export const invitationsPath = '/organization-memberships?filter[status]=invited';

interface Props {
  invitations: Resource<'organization-memberships'>[];
  onAnswer(): void;
}

/** Pending invitations of the user. */
export const Invitations = ({ invitations, onAnswer }: Props) =>
  invitations.length > 0 && (
    <Section title="Invitations">
      <List label="Invitations" of={invitations}>
        {(invitation) => {
          const organization = related(invitation, 'organization') ?? '';
          const path = `/organization-memberships/${invitation.id}`;
          const button = { small: true, of: organization, onDone: onAnswer };
          return (
            <Item key={invitation.id} title={organization} meta={`to ${invitation.attributes.email}`}>
              <ActionButton {...button} text="Join" work={() => call('POST', `${path}/actions/accept`)} />
              <ActionButton {...button} text="Decline" danger work={() => call('DELETE', path)} />
            </Item>
          );
        }}
      </List>
    </Section>
  );
