import type { List } from './list.ts';
import { type Body, type DataOf, type Query, Resource } from './resource.ts';
import type { RequestOptions } from './transport.ts';
import type { Enrollment, EnrollmentStep, Journey, JourneyDetail, JourneyVersion } from './types.ts';

/** Automations that contacts enter. */
export class Journeys extends Resource {
  /** The journeys, newest first; archived ones only by `status`. */
  list(query: Query<'listJourneys'> = {}, options?: RequestOptions): List<Journey> {
    return this.listOf('listJourneys', { query }, options);
  }

  /** Saves a draft, which may be incomplete: see its problems. */
  create(body: Body<'createJourney'>, options?: RequestOptions): Promise<JourneyDetail> {
    return this.data('createJourney', { body }, options);
  }

  /** With the problems of the draft, and where contacts are. */
  get(id: string, options?: RequestOptions): Promise<JourneyDetail> {
    return this.data('getJourney', { path: { id } }, options);
  }

  /** Changes the draft. Contacts in the journey are not affected until it is published. */
  update(id: string, body: Body<'updateJourney'>, options?: RequestOptions): Promise<JourneyDetail> {
    return this.data('updateJourney', { path: { id }, body }, options);
  }

  /** Publishes the draft as a version and starts the journey. Rejects a draft with problems. */
  publish(id: string, body: Body<'publishJourney'> = {}, options?: RequestOptions): Promise<Journey> {
    return this.data('publishJourney', { path: { id }, body }, options);
  }

  pause(id: string, options?: RequestOptions): Promise<Journey> {
    return this.data('pauseJourney', { path: { id } }, options);
  }

  /** Resumes a paused journey, and processes or discards the events that waited meanwhile. */
  resume(id: string, body: Body<'resumeJourney'> = {}, options?: RequestOptions): Promise<Journey> {
    return this.data('resumeJourney', { path: { id }, body }, options);
  }

  /** Ends the journey for good, with all its runs. */
  archive(id: string, options?: RequestOptions): Promise<Journey> {
    return this.data('archiveJourney', { path: { id } }, options);
  }

  /** The published versions, the newest first. */
  versions(id: string, query: Query<'listJourneyVersions'> = {}, options?: RequestOptions): List<JourneyVersion> {
    return this.listOf('listJourneyVersions', { path: { id }, query }, options);
  }

  /** Lets up to 1,000 contacts enter, each with its own result. */
  enroll(id: string, body: Body<'enrollContacts'>, options?: RequestOptions): Promise<DataOf<'enrollContacts'>> {
    return this.data('enrollContacts', { path: { id }, body }, options);
  }

  /** The runs that match every filter, the latest first. */
  enrollments(id: string, query: Query<'listEnrollments'> = {}, options?: RequestOptions): List<Enrollment> {
    return this.listOf('listEnrollments', { path: { id }, query }, options);
  }
}

/** Runs of contacts through journeys. */
export class Enrollments extends Resource {
  /** A run, step by step. */
  get(id: string, options?: RequestOptions): Promise<Enrollment> {
    return this.data('getEnrollment', { path: { id } }, options);
  }

  /** The steps that the run has left, the last first. */
  steps(id: string, query: Query<'listEnrollmentSteps'> = {}, options?: RequestOptions): List<EnrollmentStep> {
    return this.listOf('listEnrollmentSteps', { path: { id }, query }, options);
  }

  /** Moves the contact to another step of its version. */
  move(id: string, body: Body<'moveEnrollment'>, options?: RequestOptions): Promise<Enrollment> {
    return this.data('moveEnrollment', { path: { id }, body }, options);
  }

  pause(id: string, options?: RequestOptions): Promise<Enrollment> {
    return this.data('pauseEnrollment', { path: { id } }, options);
  }

  resume(id: string, options?: RequestOptions): Promise<Enrollment> {
    return this.data('resumeEnrollment', { path: { id } }, options);
  }

  /** Ends the run. */
  remove(id: string, options?: RequestOptions): Promise<Enrollment> {
    return this.data('removeEnrollment', { path: { id } }, options);
  }
}
