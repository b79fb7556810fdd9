import { graphql } from '../../generated/gql.ts';
import type { CampaignQuery } from '../../generated/graphql.ts';

export const CAMPAIGN = graphql(`
  query Campaign($id: ID!) {
    campaign(id: $id) {
      id
      name
      subject
      previewText
      status
      scheduledAt
      localTime
      timeZone
      timeZoneField
      recipientCount
      countingRecipients
      fromName
      fromEmail
      replyTo
      html
      format
      source
      text
      templateId
      templateVersion
      groupIds
      segmentIds
      excludedGroupIds
      excludedSegmentIds
      utmSource
      utmMedium
      utmCampaign
      utmTerm
      utmContent
      pauseReason
      blocksSender
      waitingReason
      waitingUntil
      workflowUrl
      ratePerSecond
      abTestId
      trackOpens
      trackClicks
      startedAt
      completedAt
      recipientsDeletedAt
      createdAt
      updatedAt
      version
      editedById
      editedByName
      engagement {
        sent
        delivered
        opened
        openedByMachines
        clicked
        clickedByMachines
        bounced
        rejected
        complained
        unsubscribed
      }
      progress {
        planned
        claimed
        accepted
        failed
        suppressed
        unknown
        canceled
      }
      deferred {
        messages
        nextRetryAt
      }
      awaitingLocalTime {
        messages
        nextAt
      }
    }
  }
`);

export type CampaignRow = CampaignQuery['campaign'];

/** What a dialog about a campaign gets. */
export interface CampaignDialogProps {
  campaign: CampaignRow;
  opened: boolean;
  onClose: () => void;
}
