import './journeys.ts';
import './enrollments.ts';
import './signing-secret.ts';
