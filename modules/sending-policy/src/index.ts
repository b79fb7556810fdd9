export { DEFAULT_POLICY, type FrequencyCap, frequencyCapOf, getPolicy } from './policy.ts';
