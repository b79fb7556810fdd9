import { accepted, found, gql, restPath, type Route } from '@postroom/platform';

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
  {
    method: 'POST',
    path: '/v1/campaigns/{id}/test',
    needs: 'full',
    tag: 'Campaigns',
    summary: 'Send a test of a campaign to a few addresses',
    document: gql`
      mutation ($id: ID!, $input: TestCampaignInput!) {
        testCampaign(id: $id, input: $input) {
          id: messageId
          status
        }
      }
    `,
    reply: accepted('testCampaign'),
    example: { emails: ['me@example.com'] },
  },
  {
    method: 'POST',
    path: '/v1/templates/{id}/test',
    needs: 'full',
    tag: 'Templates',
    summary: 'Send a test of a template, with its unpublished changes, to a few addresses',
    document: gql`
      mutation ($id: ID!, $input: TestTemplateInput!) {
        testTemplate(id: $id, input: $input) {
          id: messageId
          status
        }
      }
    `,
    reply: accepted('testTemplate'),
    example: { emails: ['me@example.com'], from_email: 'news@example.com' },
  },
];
