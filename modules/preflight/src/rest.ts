import { found, gql, restPath, type Route } from '@postroom/platform';

const INPUT_FIELDS = new Set([
  'previewText',
  'fromName',
  'fromEmail',
  'replyTo',
  'templateId',
  'groupIds',
  'segmentIds',
  'excludedGroupIds',
  'excludedSegmentIds',
  'postalAddress',
]);

/** Converts an input field that a finding names to snake_case. A finding may also name a placeholder, which is kept. */
const findingField = (field: string) => (INPUT_FIELDS.has(field) ? restPath(field) : field);

export const routes: Route[] = [
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/preflight',
    needs: 'full',
    tag: 'Campaigns',
    summary: 'Review a campaign as if it were sent now; changes nothing',
    document: gql`
      query ($id: ID!) {
        campaignPreflight(id: $id) {
          isReady
          tracksOpens
          tracksClicks
          messageBytes
          estimatedSeconds
          problems {
            field
            message
          }
          warnings {
            field
            message
          }
          audience {
            contacts
            recipients
            excluded {
              reason
              contacts
            }
          }
          variables {
            name
            fallback
            missing
            examples
          }
        }
      }
    `,
    reply: found('campaignPreflight', {
      problems: { problems: findingField, warnings: findingField },
    }),
  },
];
