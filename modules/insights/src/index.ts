export { activitiesOf, type Activity } from './activity.ts';
export { type CampaignHour, campaignHours } from './campaign-hours.ts';
export { type CampaignMinutes, campaignMinutes } from './campaign-minutes.ts';
export { statistics, STEPS, type Statistics, type Step } from './statistics.ts';
