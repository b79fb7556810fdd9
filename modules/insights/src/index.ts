export { activitiesOf, type Activity } from './activity.ts';
export { type CampaignHour, campaignHours } from './campaign-hours.ts';
export { type CampaignMinutes, campaignMinutes } from './campaign-minutes.ts';
export { statistics, type Statistics, type Step } from './statistics.ts';
