-- Generated from the migrated database. Do not edit: change migrations/, then `npx vitest run src/store/migrate -u`.

create table action_catalog (
  id text not null,
  display_name text not null,
  description text not null,
  category text not null,
  connector_id text not null,
  parameter_schema json not null,
  output_schema json not null,
  is_enabled boolean default true not null,
  version text not null,
  deprecation_notice text,
  tags text[] default '{}'::text[] not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  notice_is_operators boolean default false not null,
  codes text[],
  constraint action_catalog_pkey PRIMARY KEY (id)
);
CREATE INDEX action_by_connector ON action_catalog USING btree (connector_id);

create table action_executions (
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  action_type text not null,
  status text not null,
  started_seq integer not null,
  outputs json,
  error json,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  waited_ms integer,
  constraint action_executions_pkey PRIMARY KEY (execution_id, node_id, attempt),
  constraint attempt_positive CHECK (attempt > 0),
  constraint attempt_status_known CHECK (status = ANY (ARRAY['Succeeded'::text, 'Failed'::text, 'RetriableFailure'::text, 'Cancelled'::text, 'TimedOut'::text]))
);

create table action_logs (
  execution_id uuid not null,
  id bigint generated always as identity not null,
  node_id text not null,
  attempt smallint not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null,
  data json,
  constraint action_logs_pkey PRIMARY KEY (execution_id, id)
);

create table action_stats (
  tenant_id text not null,
  grain smallint not null,
  at timestamp with time zone not null,
  action_type text not null,
  started integer not null,
  succeeded integer not null,
  failed integer not null,
  timed_out integer not null,
  cancelled integer not null,
  durations integer[] not null,
  waits integer[] not null,
  constraint action_stats_pkey PRIMARY KEY (tenant_id, grain, at, action_type),
  constraint action_stats_grain_known CHECK (grain >= 0 AND grain <= 2)
) with (fillfactor=70);
CREATE INDEX action_stats_by_age ON action_stats USING btree (grain, at);

create table api_keys (
  id uuid not null,
  tenant_id text not null,
  name text not null,
  hash bytea not null,
  scopes text[] not null,
  roles text[] default '{}'::text[] not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  limits json,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_key_hash UNIQUE (hash),
  constraint api_key_hash_is_sha256 CHECK (octet_length(hash) = 32)
);
CREATE INDEX api_key_by_tenant ON api_keys USING btree (tenant_id, id);

create table artifacts (
  artifact_id uuid not null,
  tenant_id text not null,
  execution_id uuid not null,
  node_id text not null,
  attempt integer not null,
  name text not null,
  kind text not null,
  content_type text not null,
  size_bytes bigint,
  sha256 text,
  created_at timestamp with time zone default now() not null,
  expires_at timestamp with time zone,
  constraint artifacts_pkey PRIMARY KEY (artifact_id),
  constraint artifact_complete_or_not CHECK ((sha256 IS NULL) = (size_bytes IS NULL)),
  constraint artifact_kind_known CHECK (kind = ANY (ARRAY['dbt-manifest'::text, 'dbt-run-results'::text, 'log-bundle'::text, 'dataset-sample'::text, 'custom'::text]))
);
CREATE INDEX artifact_by_execution ON artifacts USING btree (tenant_id, execution_id, artifact_id);
CREATE INDEX artifact_by_expiry ON artifacts USING btree (expires_at) WHERE expires_at IS NOT NULL;

create table attempt_queue (
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  tenant_id text not null,
  task_queue text not null,
  priority smallint not null,
  worker_pool text,
  runtime text,
  resource_class text,
  request json not null,
  timeout_ms bigint,
  queued_at timestamp with time zone default clock_timestamp() not null,
  lease_id uuid,
  worker text,
  taken_at timestamp with time zone,
  lease_until timestamp with time zone,
  takes smallint default 0 not null,
  is_stopped boolean default false not null,
  held_until timestamp with time zone,
  constraint attempt_queue_pkey PRIMARY KEY (execution_id, node_id, attempt),
  constraint attempt_lease_whole CHECK ((lease_id IS NULL) = (lease_until IS NULL) AND (lease_id IS NULL) = (taken_at IS NULL))
) with (fillfactor=70);
CREATE UNIQUE INDEX attempt_queue_lease ON attempt_queue USING btree (lease_id) WHERE lease_id IS NOT NULL;
CREATE INDEX attempt_queue_next ON attempt_queue USING btree (task_queue, tenant_id, priority DESC, queued_at);
CREATE INDEX attempt_queue_overdue ON attempt_queue USING btree (lease_until) WHERE lease_id IS NOT NULL;

create table audit_log (
  id bigint generated always as identity not null,
  tenant_id text not null,
  at timestamp with time zone default clock_timestamp() not null,
  actor text not null,
  action text not null,
  target text not null,
  details json,
  correlation_id text,
  seq bigint not null,
  hash bytea not null,
  constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX audit_chain ON audit_log USING btree (tenant_id, seq);
CREATE INDEX audit_newest ON audit_log USING btree (tenant_id, id);

create table bulk_actions (
  id uuid not null,
  tenant_id text not null,
  request_id text not null,
  action text not null,
  selection json not null,
  version integer,
  reason text not null,
  actor text not null,
  correlation_id text,
  state text default 'running'::text not null,
  count integer not null,
  is_capped boolean not null,
  done integer default 0 not null,
  failed integer default 0 not null,
  skipped integer default 0 not null,
  last_error text,
  cursor uuid,
  claimed_until timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  constraint bulk_actions_pkey PRIMARY KEY (id),
  constraint bulk_request UNIQUE (tenant_id, request_id),
  constraint bulk_action_known CHECK (action = ANY (ARRAY['cancel'::text, 'retry'::text, 'pause'::text, 'resume'::text, 'replay'::text])),
  constraint bulk_ended_has_time CHECK ((state = 'running'::text) = (ended_at IS NULL)),
  constraint bulk_state_known CHECK (state = ANY (ARRAY['running'::text, 'done'::text, 'stopped'::text]))
) with (fillfactor=70);
CREATE INDEX bulk_newest ON bulk_actions USING btree (tenant_id, id);
CREATE INDEX bulk_open ON bulk_actions USING btree (claimed_until) WHERE state = 'running'::text;

create table commit_batches (
  id bigint generated always as identity not null,
  runner_id bigint not null,
  execution_ids uuid[] not null,
  seqs integer[] not null,
  at timestamp with time zone default clock_timestamp() not null,
  constraint commit_batches_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_cost_delay=0, toast_tuple_target=8160, autovacuum_vacuum_threshold=2000);

create table connections (
  id uuid not null,
  tenant_id text not null,
  name text not null,
  principal_id text not null,
  connector text not null,
  kind text not null,
  settings json not null,
  allowed_hosts text[] default '{}'::text[] not null,
  is_default boolean default false not null,
  revision integer default 1 not null,
  key_id text not null,
  sealed bytea not null,
  tokens_key_id text,
  tokens bytea,
  refreshing_until timestamp with time zone,
  problem text,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  last_used_at timestamp with time zone,
  checked_at timestamp with time zone,
  check_ok boolean,
  check_message text,
  constraint connections_pkey PRIMARY KEY (id),
  constraint connection_name UNIQUE (tenant_id, name, principal_id),
  constraint connection_kind_known CHECK (kind = ANY (ARRAY['token'::text, 'header'::text, 'basic'::text, 'oauth2-client-credentials'::text, 'oauth2-code'::text, 'aws-sigv4'::text])),
  constraint connection_tokens_whole CHECK ((tokens IS NULL) = (tokens_key_id IS NULL))
);
CREATE INDEX connection_by_key ON connections USING btree (key_id);
CREATE UNIQUE INDEX connection_one_default ON connections USING btree (tenant_id, connector) WHERE is_default AND principal_id = ''::text;

create table connectors (
  id text not null,
  display_name text not null,
  description text not null,
  icon_url text,
  documentation_url text,
  is_enabled boolean default true not null,
  requires_auth boolean default true not null,
  auth_type text,
  config_schema json,
  capabilities text[] not null,
  version text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint connectors_pkey PRIMARY KEY (id)
);

create table consumers (
  id integer generated always as identity not null,
  tenant_id text not null,
  code text not null,
  kind text not null,
  url text,
  secrets text[] default '{}'::text[] not null,
  subscriptions json default '[]'::json not null,
  ordering text default 'delivered'::text not null,
  concurrency integer default 16 not null,
  options json default '{}'::json not null,
  is_paused boolean default false not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint consumers_pkey PRIMARY KEY (id),
  constraint consumer_code UNIQUE (tenant_id, code),
  constraint consumer_concurrency_positive CHECK (concurrency > 0),
  constraint consumer_kind_known CHECK (kind = ANY (ARRAY['process'::text, 'webhook'::text, 'pull'::text, 'nats'::text, 'workflow'::text, 'trigger'::text])),
  constraint consumer_ordering_known CHECK (ordering = ANY (ARRAY['delivered'::text, 'processed'::text])),
  constraint consumer_two_secrets CHECK (cardinality(secrets) <= 2)
);

create table dead_letters (
  id bigint generated always as identity not null,
  tenant_id text not null,
  execution_id uuid,
  enqueued_at timestamp with time zone default clock_timestamp() not null,
  reason text not null,
  payload json not null,
  attempts integer default 0 not null,
  last_error text,
  trigger_id uuid,
  request_id text,
  constraint dead_letters_pkey PRIMARY KEY (id),
  constraint dead_letter_once UNIQUE (execution_id),
  constraint dead_letter_of_one CHECK ((execution_id IS NULL) = (trigger_id IS NOT NULL))
);
CREATE INDEX dead_letter_by_tenant ON dead_letters USING btree (tenant_id, id);
CREATE UNIQUE INDEX dead_letter_once_a_firing ON dead_letters USING btree (trigger_id, request_id) WHERE trigger_id IS NOT NULL;

create table deliveries (
  ack_guid uuid not null,
  consumer_id integer not null,
  subject_id uuid not null,
  seq integer not null,
  stage smallint default 0 not null,
  attempts integer default 0 not null,
  reminders integer default 0 not null,
  is_held boolean default false not null,
  processed integer default 0 not null,
  next_attempt_at timestamp with time zone,
  delivered_at timestamp with time zone,
  ended_at timestamp with time zone,
  outcome text,
  message text,
  retry_at timestamp with time zone,
  constraint deliveries_pkey PRIMARY KEY (ack_guid, consumer_id),
  constraint delivery_ended_is_quiet CHECK ((stage = ANY (ARRAY[2, 4])) = (ended_at IS NOT NULL) AND ((stage <> ALL (ARRAY[2, 4])) OR next_attempt_at IS NULL)),
  constraint delivery_outcome_known CHECK (outcome = ANY (ARRAY['succeeded'::text, 'failed'::text])),
  constraint delivery_stage_known CHECK (stage >= 0 AND stage <= 4),
  constraint delivery_unsent_is_due CHECK ((stage <> ALL (ARRAY[0, 3])) OR next_attempt_at IS NOT NULL)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX delivery_dead ON deliveries USING btree (consumer_id, ack_guid) WHERE stage = 4;
CREATE INDEX delivery_due ON deliveries USING btree (consumer_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX delivery_order ON deliveries USING btree (consumer_id, subject_id, stage, seq) WHERE stage = ANY (ARRAY[0, 1, 3]);

create table engine_secrets (
  name text not null,
  value bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint engine_secrets_pkey PRIMARY KEY (name),
  constraint secret_long_enough CHECK (octet_length(value) >= 32)
);

create table event_waits (
  tenant_id text not null,
  event_type text not null,
  key text not null,
  execution_id uuid not null,
  node_id text not null,
  constraint event_waits_pkey PRIMARY KEY (execution_id, node_id, event_type, key)
);
CREATE INDEX event_wait_match ON event_waits USING btree (tenant_id, event_type, key, execution_id, node_id);
CREATE INDEX event_wait_own ON event_waits USING btree (tenant_id, event_type) WHERE event_type ~ '^(Run|Step|Alert)[A-Z]'::text;

create table execution_checkpoints (
  execution_id uuid not null,
  seq integer not null,
  decider_version integer not null,
  state json not null,
  constraint execution_checkpoints_pkey PRIMARY KEY (execution_id)
);

create table execution_events (
  execution_id uuid not null,
  seq integer not null,
  at timestamp with time zone not null,
  facts json not null,
  inputs json,
  constraint execution_events_pkey PRIMARY KEY (execution_id, seq)
);

create table execution_inbox (
  id uuid not null,
  execution_id uuid not null,
  kind text not null,
  key text not null,
  body json not null,
  at timestamp with time zone default clock_timestamp() not null,
  constraint execution_inbox_pkey PRIMARY KEY (id),
  constraint inbox_message_once UNIQUE (execution_id, kind, key),
  constraint inbox_kind_known CHECK (kind = ANY (ARRAY['webhook'::text, 'event'::text, 'signal'::text, 'cancel'::text, 'child'::text, 'attemptResult'::text]))
);

create table execution_outcomes (
  execution_id uuid not null,
  tenant_id text not null,
  status text not null,
  outputs json,
  error json,
  context_snapshot json,
  started_at timestamp with time zone not null,
  ended_at timestamp with time zone not null,
  constraint execution_outcomes_pkey PRIMARY KEY (execution_id),
  constraint outcome_status_known CHECK (status = ANY (ARRAY['Succeeded'::text, 'Failed'::text, 'Cancelled'::text, 'TimedOut'::text]))
);
CREATE INDEX outcome_by_status ON execution_outcomes USING btree (tenant_id, status, execution_id);

create table execution_queue (
  execution_id uuid not null,
  tenant_id text not null,
  workflow_id text not null,
  version integer not null,
  priority smallint not null,
  state smallint default 0 not null,
  ready_at timestamp with time zone default clock_timestamp() not null,
  due_at timestamp with time zone,
  runner_id bigint,
  epoch integer default 0 not null,
  crashes smallint default 0 not null,
  waits smallint default 0 not null,
  behaviour smallint default 1 not null,
  paused boolean default false not null,
  parked_for smallint default 16 not null,
  compensating boolean default false not null,
  constraint execution_queue_pkey PRIMARY KEY (execution_id),
  constraint queue_owned_has_runner CHECK ((state = 1) = (runner_id IS NOT NULL)),
  constraint queue_parked_has_wakeup CHECK (state <> 2 OR due_at IS NOT NULL OR waits > 0),
  constraint queue_state_known CHECK (state >= 0 AND state <= 3)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=20000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX queue_due ON execution_queue USING btree (due_at) WHERE state = 2 AND due_at IS NOT NULL;
CREATE INDEX queue_external ON execution_queue USING btree (tenant_id, execution_id) WHERE state = 3;
CREATE INDEX queue_owner ON execution_queue USING btree (runner_id) WHERE state = 1;
CREATE INDEX queue_parked_for ON execution_queue USING btree (tenant_id, parked_for, execution_id) WHERE state = 2 AND parked_for IS NOT NULL;
CREATE INDEX queue_ready ON execution_queue USING btree (tenant_id, priority, ready_at) WHERE state = 0;

create table execution_signals (
  execution_id uuid not null,
  signal_id text not null,
  tenant_id text not null,
  body json not null,
  at timestamp with time zone default clock_timestamp() not null,
  constraint execution_signals_pkey PRIMARY KEY (execution_id, signal_id)
);

create table execution_stats (
  tenant_id text not null,
  grain smallint not null,
  at timestamp with time zone not null,
  workflow_id text not null,
  version integer not null,
  started integer not null,
  succeeded integer not null,
  failed integer not null,
  timed_out integer not null,
  cancelled integer not null,
  durations integer[] not null,
  waits integer[] not null,
  constraint execution_stats_pkey PRIMARY KEY (tenant_id, grain, at, workflow_id, version),
  constraint execution_stats_grain_known CHECK (grain >= 0 AND grain <= 2)
) with (fillfactor=70);
CREATE INDEX execution_stats_by_age ON execution_stats USING btree (grain, at);

create table external_runs (
  execution_id uuid not null,
  driver text not null,
  ref json,
  ref_epoch integer,
  look_at timestamp with time zone default clock_timestamp(),
  failures smallint default 0 not null,
  last_error text,
  constraint external_runs_pkey PRIMARY KEY (execution_id),
  constraint external_driver_known CHECK (driver = ANY (ARRAY['temporal'::text, 'conductor'::text])),
  constraint external_ref_complete CHECK ((ref IS NULL) = (ref_epoch IS NULL))
) with (fillfactor=70);
CREATE INDEX external_run_due ON external_runs USING btree (driver, look_at) WHERE look_at IS NOT NULL;

create table failure_groups (
  tenant_id text not null,
  at timestamp with time zone not null,
  fingerprint text not null,
  workflow_id text not null,
  node_id text not null,
  code text not null,
  message text not null,
  count integer not null,
  first_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  sample_id uuid not null,
  constraint failure_groups_pkey PRIMARY KEY (tenant_id, at, fingerprint)
) with (fillfactor=70);
CREATE INDEX failure_group_by_age ON failure_groups USING btree (at);

create table lifecycle_definitions (
  id integer generated always as identity not null,
  tenant_id text not null,
  env text not null,
  name text not null,
  newest_version integer default 0 not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint lifecycle_definitions_pkey PRIMARY KEY (id),
  constraint lifecycle_name UNIQUE (tenant_id, env, name)
);

create table lifecycle_environments (
  tenant_id text not null,
  code text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint lifecycle_environments_pkey PRIMARY KEY (tenant_id, code)
);

create table lifecycle_events (
  definition_id integer not null,
  version integer not null,
  name text not null,
  event_id uuid not null,
  code bigint,
  constraint lifecycle_events_pkey PRIMARY KEY (definition_id, version, name),
  constraint event_code_once UNIQUE (definition_id, version, code)
);

create table lifecycle_generation (
  slot integer not null,
  generation bigint not null,
  constraint lifecycle_generation_pkey PRIMARY KEY (slot)
) with (fillfactor=50);

create table lifecycle_instances (
  id uuid not null,
  definition_id integer not null,
  external_ref text not null,
  version integer not null,
  state text not null,
  revision integer not null,
  state_since timestamp with time zone not null,
  timeouts_fired integer not null,
  due_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint lifecycle_instances_pkey PRIMARY KEY (id),
  constraint instance_once UNIQUE (definition_id, external_ref),
  constraint instance_revision_positive CHECK (revision > 0)
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_delay=0);
CREATE INDEX instance_by_state ON lifecycle_instances USING btree (definition_id, state, external_ref);
CREATE INDEX instance_due ON lifecycle_instances USING btree (due_at) WHERE due_at IS NOT NULL;

create table lifecycle_policies (
  definition_id integer not null,
  version integer not null,
  name text not null,
  ordinal integer not null,
  applies_on json not null,
  condition text,
  constraint lifecycle_policies_pkey PRIMARY KEY (definition_id, version, name)
);

create table lifecycle_reactions (
  id bigint generated always as identity not null,
  ack_guid uuid not null,
  outcome text not null,
  instance_id uuid not null,
  event text not null,
  due_at timestamp with time zone default clock_timestamp() not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  payload json,
  constraint lifecycle_reactions_pkey PRIMARY KEY (id),
  constraint reaction_once UNIQUE (ack_guid, outcome),
  constraint reaction_outcome_known CHECK (outcome = ANY (ARRAY['succeeded'::text, 'failed'::text]))
) with (fillfactor=80);
CREATE INDEX reaction_due ON lifecycle_reactions USING btree (due_at);

create table lifecycle_routes (
  definition_id integer not null,
  version integer not null,
  policy text not null,
  ordinal integer not null,
  hook text,
  workflow text,
  consumers text[] not null,
  on_succeeded text,
  on_failed text,
  constraint lifecycle_routes_pkey PRIMARY KEY (definition_id, version, policy, ordinal),
  constraint route_hook_or_workflow CHECK ((hook IS NULL) <> (workflow IS NULL))
);

create table lifecycle_states (
  definition_id integer not null,
  version integer not null,
  name text not null,
  is_initial boolean not null,
  is_final boolean not null,
  timeout_ms bigint,
  timeout_event text,
  timeout_mode text,
  timeout_max integer,
  timeout_interval_ms bigint,
  constraint lifecycle_states_pkey PRIMARY KEY (definition_id, version, name),
  constraint state_timeout_complete CHECK ((timeout_ms IS NULL) = (timeout_event IS NULL)),
  constraint state_timeout_mode_known CHECK (timeout_mode = ANY (ARRAY['once'::text, 'repeat'::text]))
);
CREATE UNIQUE INDEX state_one_initial ON lifecycle_states USING btree (definition_id, version) WHERE is_initial;

create table lifecycle_timeline (
  instance_id uuid not null,
  id bigint generated always as identity not null,
  kind text not null,
  at timestamp with time zone not null,
  revision integer,
  event text,
  from_state text,
  to_state text,
  request_id text,
  activity_id uuid,
  activity text,
  status text,
  actor text,
  payload json,
  cause json,
  messages uuid[],
  constraint lifecycle_timeline_pkey PRIMARY KEY (instance_id, id),
  constraint timeline_activity_complete CHECK (kind <> 'activity'::text OR activity_id IS NOT NULL AND activity IS NOT NULL AND status IS NOT NULL),
  constraint timeline_kind_known CHECK (kind = ANY (ARRAY['transition'::text, 'activity'::text, 'no-op'::text])),
  constraint timeline_transition_complete CHECK (kind <> 'transition'::text OR revision IS NOT NULL AND event IS NOT NULL AND from_state IS NOT NULL AND to_state IS NOT NULL AND request_id IS NOT NULL AND cause IS NOT NULL)
);
CREATE UNIQUE INDEX timeline_activity ON lifecycle_timeline USING btree (activity_id) WHERE activity_id IS NOT NULL;
CREATE UNIQUE INDEX timeline_request ON lifecycle_timeline USING btree (instance_id, request_id) WHERE request_id IS NOT NULL;

create table lifecycle_transitions (
  definition_id integer not null,
  version integer not null,
  from_state text not null,
  event text not null,
  to_state text not null,
  reenter boolean not null,
  constraint lifecycle_transitions_pkey PRIMARY KEY (definition_id, version, from_state, event)
);

create table lifecycle_versions (
  definition_id integer not null,
  version integer not null,
  checksum text not null,
  definition json not null,
  policies json,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint lifecycle_versions_pkey PRIMARY KEY (definition_id, version),
  constraint lifecycle_version_positive CHECK (version > 0)
);

create table live_lines (
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  line integer not null,
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  level text not null,
  message text not null,
  data json,
  constraint live_lines_pkey PRIMARY KEY (execution_id, node_id, attempt, line)
) with (fillfactor=50);

create table messages (
  ack_guid uuid not null,
  tenant_id text not null,
  kind text not null,
  subject_id uuid not null,
  seq integer not null,
  env text,
  source text not null,
  event text not null,
  body json not null,
  on_succeeded text,
  on_failed text,
  consumers integer not null,
  open_consumers integer not null,
  failures integer default 0 not null,
  created_at timestamp with time zone default date_trunc('milliseconds'::text, clock_timestamp()) not null,
  constraint messages_pkey PRIMARY KEY (ack_guid),
  constraint message_kind_known CHECK (kind = ANY (ARRAY['transition'::text, 'hook'::text, 'execution'::text]))
) with (fillfactor=95);
CREATE INDEX message_by_age ON messages USING btree (created_at, ack_guid);

create table notices (
  id bigint generated always as identity not null,
  tenant_id text not null,
  kind text not null,
  body json not null,
  at timestamp with time zone not null,
  constraint notices_pkey PRIMARY KEY (id)
);
CREATE INDEX notice_by_age ON notices USING btree (at);
CREATE INDEX notice_newest ON notices USING btree (tenant_id, id);

create table outbox_leadership (
  id integer default 1 not null,
  leader_id text not null,
  expires_at timestamp with time zone not null,
  constraint outbox_leadership_pkey PRIMARY KEY (id),
  constraint outbox_one_leader CHECK (id = 1)
) with (fillfactor=50);

create table plugin_health (
  plugin_id text not null,
  version text not null,
  calls boolean[] not null,
  quarantined_until timestamp with time zone,
  constraint plugin_health_pkey PRIMARY KEY (plugin_id, version)
) with (fillfactor=50);

create table plugins (
  plugin_id text not null,
  version text not null,
  digest text not null,
  manifest json not null,
  code text not null,
  registered_at timestamp with time zone default clock_timestamp() not null,
  constraint plugins_pkey PRIMARY KEY (plugin_id, version),
  constraint plugin_digest_is_sha256 CHECK (digest ~ '^[0-9a-f]{64}$'::text)
);

create table rate_buckets (
  key text not null,
  tokens double precision not null,
  granted boolean not null,
  filled_at timestamp with time zone not null,
  log double precision[],
  constraint rate_buckets_pkey PRIMARY KEY (key)
) with (fillfactor=50);

create table runner_leases (
  runner_id bigint not null,
  expires_at timestamp with time zone not null,
  guarded boolean default false not null,
  constraint runner_leases_pkey PRIMARY KEY (runner_id)
) with (fillfactor=50);

create table runner_slots (
  id bigint generated always as identity not null,
  runner_id bigint not null,
  state text default 'live'::text not null,
  constraint runner_slots_pkey PRIMARY KEY (id),
  constraint slot_state_known CHECK (state = ANY (ARRAY['live'::text, 'stopped'::text, 'dead'::text]))
) with (fillfactor=50);
CREATE INDEX slot_by_runner ON runner_slots USING btree (runner_id);

create table runners (
  id bigint generated always as identity not null,
  name text not null,
  registered_at timestamp with time zone default clock_timestamp() not null,
  behaviour smallint default 1 not null,
  host text,
  version text,
  places integer,
  busy integer,
  drain_asked_at timestamp with time zone,
  constraint runners_pkey PRIMARY KEY (id)
);

create table schema_version (
  version integer not null,
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone default clock_timestamp() not null,
  constraint schema_version_pkey PRIMARY KEY (version)
);

create table secrets (
  tenant_id text not null,
  environment_id text not null,
  name text not null,
  version integer not null,
  key_id text not null,
  sealed bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  created_by text not null,
  constraint secrets_pkey PRIMARY KEY (tenant_id, name, environment_id, version),
  constraint secret_version_positive CHECK (version > 0)
);
CREATE INDEX secret_by_key ON secrets USING btree (key_id);

create table task_queue_workers (
  task_queue text not null,
  tenant_id text not null,
  worker text not null,
  slots integer not null,
  busy integer not null,
  seen_at timestamp with time zone not null,
  constraint task_queue_workers_pkey PRIMARY KEY (task_queue, tenant_id, worker)
);

create table template_definitions (
  set_uid bigint not null,
  id text not null,
  version integer not null,
  display_name text not null,
  fields json not null,
  body_template text not null,
  help_markdown text,
  is_enabled boolean default true not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint template_definitions_pkey PRIMARY KEY (set_uid, id, version),
  constraint template_version_positive CHECK (version > 0)
);
CREATE INDEX template_by_id ON template_definitions USING btree (id, set_uid);

create table template_sets (
  uid bigint generated always as identity not null,
  tenant_id text,
  id text not null,
  display_name text not null,
  team text not null,
  is_enabled boolean default true not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint template_sets_pkey PRIMARY KEY (uid),
  constraint template_set_name UNIQUE NULLS NOT DISTINCT (tenant_id, id)
);

create table tenant_quotas (
  tenant_id text not null,
  preset text,
  workflows integer,
  tasks_per_workflow integer,
  concurrent_runs integer,
  executions_per_month bigint,
  cron boolean default true not null,
  http_steps_at_once integer,
  changed_at timestamp with time zone default clock_timestamp() not null,
  constraint tenant_quotas_pkey PRIMARY KEY (tenant_id),
  constraint quota_counts_possible CHECK (workflows >= 0 AND tasks_per_workflow >= 0 AND concurrent_runs >= 0 AND executions_per_month >= 0),
  constraint quota_preset_known CHECK (preset = ANY (ARRAY['free'::text, 'pro'::text])),
  constraint quota_steps_at_once_positive CHECK (http_steps_at_once > 0)
);
CREATE INDEX quota_changed ON tenant_quotas USING btree (changed_at);

create table tenant_runs (
  tenant_id text not null,
  execution_id uuid not null,
  constraint tenant_runs_pkey PRIMARY KEY (tenant_id, execution_id)
);

create table tenant_usage (
  tenant_id text not null,
  month date not null,
  executions bigint not null,
  constraint tenant_usage_pkey PRIMARY KEY (tenant_id, month),
  constraint usage_month_begins CHECK (EXTRACT(day FROM month) = 1::numeric)
) with (fillfactor=50);

create table trigger_firings (
  id bigint generated always as identity not null,
  trigger_id uuid not null,
  tenant_id text not null,
  request_id text not null,
  slot timestamp with time zone,
  outcome text not null,
  execution_id uuid,
  reason text,
  fired_at timestamp with time zone default clock_timestamp() not null,
  constraint trigger_firings_pkey PRIMARY KEY (id),
  constraint firing_once UNIQUE (trigger_id, request_id),
  constraint firing_explained CHECK (outcome = 'started'::text OR reason IS NOT NULL),
  constraint firing_outcome_known CHECK (outcome = ANY (ARRAY['started'::text, 'condition_false'::text, 'skipped'::text, 'failed'::text])),
  constraint firing_started_has_execution CHECK ((outcome = 'started'::text) = (execution_id IS NOT NULL))
);
CREATE INDEX firing_by_age ON trigger_firings USING btree (fired_at);
CREATE INDEX firing_newest ON trigger_firings USING btree (trigger_id, id);

create table workflow_definitions (
  tenant_id text not null,
  workflow_id text not null,
  version integer not null,
  format text not null,
  definition json not null,
  checksum text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  workflow_uid uuid not null,
  driver text default json_field(definition, 'driver'::text) #>> '{}'::text[],
  constraint workflow_definitions_pkey PRIMARY KEY (tenant_id, workflow_id, version),
  constraint definition_format_known CHECK (format = ANY (ARRAY['graph'::text, 'pipeline'::text, 'plan'::text])),
  constraint definition_version_not_zero CHECK (version <> 0)
);
CREATE UNIQUE INDEX definition_checksum ON workflow_definitions USING btree (workflow_uid, checksum, (version > 0));

create table workflow_executions (
  id uuid not null,
  tenant_id text not null,
  workflow_id text not null,
  version integer not null,
  format text not null,
  priority smallint default 5 not null,
  behaviour smallint default 1 not null,
  trigger json not null,
  spec json,
  principal json not null,
  correlation_id text not null,
  request_id text,
  parent_id uuid,
  parent_node text,
  depth smallint default 0 not null,
  project_id text default 'default'::text not null,
  environment_id text default 'default'::text not null,
  created_at timestamp with time zone not null,
  traceparent text,
  constraint workflow_executions_pkey PRIMARY KEY (id),
  constraint execution_parent_complete CHECK ((parent_id IS NULL) = (parent_node IS NULL)),
  constraint execution_priority_range CHECK (priority >= 0 AND priority <= 9),
  constraint execution_traceparent_length CHECK (length(traceparent) = 55)
);
CREATE INDEX execution_by_parent ON workflow_executions USING btree (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX execution_by_workflow ON workflow_executions USING btree (tenant_id, workflow_id, id);
CREATE INDEX execution_newest ON workflow_executions USING btree (tenant_id, id);
CREATE UNIQUE INDEX execution_request ON workflow_executions USING btree (tenant_id, request_id) WHERE request_id IS NOT NULL;

create table workflow_resource_links (
  tenant_id text not null,
  system_name text not null,
  resource_type text not null,
  resource_id text not null,
  execution_id uuid not null,
  node_id text not null,
  attempt smallint not null,
  external_url text,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint workflow_resource_links_pkey PRIMARY KEY (tenant_id, system_name, resource_type, resource_id)
);
CREATE INDEX resource_link_by_execution ON workflow_resource_links USING btree (execution_id);

create table workflow_templates (
  uid bigint generated always as identity not null,
  tenant_id text,
  id text not null,
  display_name text not null,
  description text not null,
  category text not null,
  definition json not null,
  config_schema json not null,
  thumbnail_url text,
  author text,
  is_official boolean default false not null,
  tags text[] default '{}'::text[] not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint workflow_templates_pkey PRIMARY KEY (uid),
  constraint workflow_template_name UNIQUE NULLS NOT DISTINCT (tenant_id, id),
  constraint workflow_template_official_is_for_all CHECK (NOT is_official OR tenant_id IS NULL)
);
CREATE INDEX workflow_template_by_category ON workflow_templates USING btree (category);
CREATE INDEX workflow_template_official ON workflow_templates USING btree (is_official) WHERE is_official;

create table workflow_triggers (
  id uuid default gen_random_uuid() not null,
  tenant_id text not null,
  workflow_id text not null,
  trigger_type text not null,
  is_enabled boolean default true not null,
  disabled_by_archive boolean default false not null,
  config json not null,
  activation_condition text,
  created_at timestamp with time zone default clock_timestamp() not null,
  due_at timestamp with time zone default '-infinity'::timestamp with time zone not null,
  settled_through timestamp with time zone default date_trunc('milliseconds'::text, clock_timestamp()) not null,
  revision integer default 1 not null,
  event_type text,
  secrets text[] default '{}'::text[] not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint workflow_triggers_pkey PRIMARY KEY (id),
  constraint trigger_archive_mark CHECK (NOT (is_enabled AND disabled_by_archive)),
  constraint trigger_two_secrets CHECK (cardinality(secrets) <= 2),
  constraint trigger_type_known CHECK (trigger_type = ANY (ARRAY['Webhook'::text, 'Schedule'::text, 'Event'::text, 'Manual'::text]))
);
CREATE INDEX trigger_by_event ON workflow_triggers USING btree (tenant_id, event_type, id) WHERE trigger_type = 'Event'::text AND is_enabled;
CREATE INDEX trigger_by_workflow ON workflow_triggers USING btree (tenant_id, workflow_id);
CREATE INDEX trigger_due ON workflow_triggers USING btree (due_at) WHERE trigger_type = 'Schedule'::text AND is_enabled;
CREATE INDEX trigger_newest ON workflow_triggers USING btree (tenant_id, id);

create table workflows (
  tenant_id text not null,
  id text not null,
  display_name text not null,
  description text,
  format text not null,
  current_version integer,
  status text default 'Draft'::text not null,
  is_enabled boolean default true not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  uid uuid default gen_random_uuid() not null,
  draft json,
  draft_checksum text,
  trigger_type text,
  cron_expression text,
  task_count integer,
  deleted_at timestamp with time zone,
  constraint workflows_pkey PRIMARY KEY (tenant_id, id),
  constraint workflow_uid UNIQUE (uid),
  constraint workflow_active_has_version CHECK (status <> 'Active'::text OR current_version IS NOT NULL),
  constraint workflow_archived_is_disabled CHECK (status <> 'Archived'::text OR NOT is_enabled),
  constraint workflow_cron_has_expression CHECK ((trigger_type = 'cron'::text) = (cron_expression IS NOT NULL)),
  constraint workflow_draft_complete CHECK ((draft IS NULL) = (draft_checksum IS NULL)),
  constraint workflow_draft_has_content CHECK (status <> 'Draft'::text OR draft IS NOT NULL),
  constraint workflow_format_known CHECK (format = ANY (ARRAY['graph'::text, 'pipeline'::text, 'plan'::text])),
  constraint workflow_status_known CHECK (status = ANY (ARRAY['Draft'::text, 'Active'::text, 'Archived'::text])),
  constraint workflow_trigger_known CHECK (trigger_type = ANY (ARRAY['api'::text, 'cron'::text, 'webhook'::text]))
);

alter table action_catalog add constraint action_connector FOREIGN KEY (connector_id) REFERENCES connectors(id);
alter table lifecycle_definitions add constraint lifecycle_environment FOREIGN KEY (tenant_id, env) REFERENCES lifecycle_environments(tenant_id, code);
alter table lifecycle_events add constraint event_version FOREIGN KEY (definition_id, version) REFERENCES lifecycle_versions(definition_id, version) ON DELETE CASCADE;
alter table lifecycle_policies add constraint policy_version FOREIGN KEY (definition_id, version) REFERENCES lifecycle_versions(definition_id, version) ON DELETE CASCADE;
alter table lifecycle_routes add constraint route_policy FOREIGN KEY (definition_id, version, policy) REFERENCES lifecycle_policies(definition_id, version, name) ON DELETE CASCADE;
alter table lifecycle_states add constraint state_version FOREIGN KEY (definition_id, version) REFERENCES lifecycle_versions(definition_id, version) ON DELETE CASCADE;
alter table lifecycle_transitions add constraint transition_event FOREIGN KEY (definition_id, version, event) REFERENCES lifecycle_events(definition_id, version, name) ON DELETE CASCADE;
alter table lifecycle_transitions add constraint transition_from FOREIGN KEY (definition_id, version, from_state) REFERENCES lifecycle_states(definition_id, version, name) ON DELETE CASCADE;
alter table lifecycle_transitions add constraint transition_to FOREIGN KEY (definition_id, version, to_state) REFERENCES lifecycle_states(definition_id, version, name) ON DELETE CASCADE;
alter table lifecycle_versions add constraint lifecycle_version_definition FOREIGN KEY (definition_id) REFERENCES lifecycle_definitions(id) ON DELETE CASCADE;
alter table template_definitions add constraint template_set FOREIGN KEY (set_uid) REFERENCES template_sets(uid) ON DELETE CASCADE;
alter table trigger_firings add constraint firing_trigger FOREIGN KEY (trigger_id) REFERENCES workflow_triggers(id) ON DELETE CASCADE;
alter table workflow_definitions add constraint definition_workflow FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows(tenant_id, id) ON DELETE CASCADE;
alter table workflow_triggers add constraint trigger_workflow FOREIGN KEY (tenant_id, workflow_id) REFERENCES workflows(tenant_id, id) ON DELETE CASCADE;

CREATE OR REPLACE FUNCTION public.audit_hash(before bytea, entry audit_log)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN sha256((before || convert_to((json_build_array((entry).seq, (entry).tenant_id, to_char(((entry).at AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.US'::text), (entry).actor, (entry).action, (entry).target, ((entry).details)::text, (entry).correlation_id))::text, 'UTF8'::name)));

CREATE OR REPLACE FUNCTION public.audit_link()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  last audit_log;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit ' || new.tenant_id, 7295));
  select * into last from audit_log where tenant_id = new.tenant_id order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.hash := audit_hash(coalesce(last.hash, ''), new);
  return new;
end;
$function$;

CREATE OR REPLACE FUNCTION public.audit_refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'audit_log is append-only' using errcode = 'restrict_violation';
end;
$function$;

CREATE OR REPLACE FUNCTION public.execution_why(id uuid)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN (SELECT CASE WHEN q.paused THEN 'paused'::text WHEN q.compensating THEN 'compensating'::text WHEN ((q.epoch = 0) AND (((q.parked_for)::integer & 128) > 0) AND (q.due_at > clock_timestamp())) THEN 'delayed'::text WHEN ((q.epoch = 0) AND (((q.parked_for)::integer & 256) > 0) AND (q.due_at > clock_timestamp())) THEN 'queued'::text WHEN ((q.state = 0) AND (NOT (EXISTS (SELECT FROM (runner_slots s JOIN runner_leases l ON ((l.runner_id = s.runner_id))) WHERE ((s.state = 'live'::text) AND (l.expires_at > clock_timestamp())))))) THEN 'noWorker'::text WHEN ((q.state = 0) AND (NOT (EXISTS (SELECT FROM ((runner_slots s JOIN runner_leases l ON ((l.runner_id = s.runner_id))) JOIN runners r ON ((r.id = s.runner_id))) WHERE ((s.state = 'live'::text) AND (l.expires_at > clock_timestamp()) AND (r.behaviour >= q.behaviour)))))) THEN 'needsNewerRunner'::text WHEN ((q.state = 0) OR (q.epoch = 0)) THEN 'queued'::text WHEN ((q.state = ANY (ARRAY[1, 2])) AND (EXISTS (SELECT FROM attempt_queue a WHERE ((a.execution_id = q.execution_id) AND (a.lease_id IS NULL) AND (NOT (EXISTS (SELECT FROM task_queue_workers w WHERE ((w.task_queue = a.task_queue) AND (w.tenant_id = ANY (ARRAY[''::text, a.tenant_id])) AND (w.seen_at > (clock_timestamp() - '00:01:00'::interval)))))))))) THEN 'noWorker'::text WHEN (q.state = 2) THEN CASE WHEN (((q.parked_for)::integer & 2) > 0) THEN 'retrying'::text WHEN (((q.parked_for)::integer & 12) > 0) THEN 'waiting'::text WHEN (((q.parked_for)::integer & 64) > 0) THEN 'running'::text ELSE 'sleeping'::text END WHEN (EXISTS (SELECT FROM action_executions a WHERE ((a.execution_id = q.execution_id) AND (a.status = 'RetriableFailure'::text) AND (NOT (EXISTS (SELECT FROM action_executions n WHERE ((n.execution_id = a.execution_id) AND (n.node_id = a.node_id) AND (n.attempt > a.attempt)))))))) THEN 'retrying'::text WHEN ((q.state = ANY (ARRAY[2, 3])) AND (q.waits > 0)) THEN 'waiting'::text WHEN ((q.state = 2) OR ((q.state = 3) AND (q.due_at IS NOT NULL))) THEN 'sleeping'::text ELSE 'running'::text END AS "case" FROM execution_queue q WHERE (q.execution_id = execution_why.id));

CREATE OR REPLACE FUNCTION public.json_field(value json, name text)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((value)::text ~ '\\u(0000|[dD][89abcdefABCDEF])'::text) THEN NULL::json ELSE (value -> name) END;

CREATE OR REPLACE FUNCTION public.next_tenant(after text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN LEAST((SELECT min(w.tenant_id) AS min FROM workflows w WHERE (w.tenant_id > next_tenant.after)), (SELECT min(q.tenant_id) AS min FROM tenant_quotas q WHERE (q.tenant_id > next_tenant.after)), (SELECT min(k.tenant_id) AS min FROM api_keys k WHERE (k.tenant_id > next_tenant.after)));

CREATE OR REPLACE FUNCTION public.template_sets_of(tenant text)
 RETURNS SETOF template_sets
 LANGUAGE sql
 STABLE PARALLEL SAFE
BEGIN ATOMIC
 SELECT s.uid,
     s.tenant_id,
     s.id,
     s.display_name,
     s.team,
     s.is_enabled,
     s.created_at,
     s.updated_at
    FROM template_sets s
   WHERE ((s.tenant_id = template_sets_of.tenant) OR ((s.tenant_id IS NULL) AND (NOT (EXISTS ( SELECT
            FROM template_sets o
           WHERE ((o.tenant_id = template_sets_of.tenant) AND (o.id = s.id)))))));
END;

CREATE OR REPLACE FUNCTION public.workflow_templates_of(tenant text)
 RETURNS SETOF workflow_templates
 LANGUAGE sql
 STABLE PARALLEL SAFE
BEGIN ATOMIC
 SELECT t.uid,
     t.tenant_id,
     t.id,
     t.display_name,
     t.description,
     t.category,
     t.definition,
     t.config_schema,
     t.thumbnail_url,
     t.author,
     t.is_official,
     t.tags,
     t.created_at,
     t.updated_at
    FROM workflow_templates t
   WHERE ((t.tenant_id = workflow_templates_of.tenant) OR ((t.tenant_id IS NULL) AND (NOT (EXISTS ( SELECT
            FROM workflow_templates o
           WHERE ((o.tenant_id = workflow_templates_of.tenant) AND (o.id = t.id)))))));
END;

create view action_executions_view as
 SELECT execution_id AS workflow_execution_id,
    node_id,
    action_type,
    status,
    attempt,
    attempt - 1 AS retry_count,
    ( SELECT json_field(t.inputs, a.node_id) AS json_field
           FROM execution_events t
          WHERE t.execution_id = a.execution_id AND t.seq <= a.started_seq AND json_field(t.inputs, a.node_id) IS NOT NULL
          ORDER BY t.seq DESC
         LIMIT 1) AS parameters,
    outputs,
    error,
    started_at,
    ended_at
   FROM action_executions a;

create view deliveries_view as
 SELECT m.tenant_id,
    c.code AS consumer,
    d.ack_guid,
    m.kind,
    d.subject_id,
    d.seq,
    m.env,
    m.source,
    m.event,
    (ARRAY['Pending'::text, 'Delivered'::text, 'Processed'::text, 'Failed'::text, 'Dead'::text])[d.stage + 1] AS stage,
    d.attempts,
    d.reminders,
    d.is_held,
    d.next_attempt_at,
    d.delivered_at,
    d.ended_at,
    d.outcome,
    d.message,
    m.created_at
   FROM deliveries d
     JOIN messages m ON m.ack_guid = d.ack_guid
     LEFT JOIN consumers c ON c.id = d.consumer_id;

create view execution_events_view as
 SELECT t.execution_id AS workflow_execution_id,
    t.seq + (f.place - 1)::integer AS seq,
    t.at AS ts,
        CASE
            WHEN k.type = ANY (ARRAY['NodeFailed'::text, 'NodeTimedOut'::text, 'ExecutionFailed'::text, 'ExecutionTimedOut'::text]) THEN 'Error'::text
            WHEN k.type = ANY (ARRAY['Warning'::text, 'RetryScheduled'::text]) THEN 'Warn'::text
            ELSE 'Info'::text
        END AS level,
    'Orchestrator'::text AS category,
    k.type,
    f.fact AS data
   FROM execution_events t
     CROSS JOIN LATERAL json_array_elements(t.facts) WITH ORDINALITY f(fact, place)
     CROSS JOIN LATERAL ( SELECT "substring"(f.fact::text, '^\s*\{\s*"type"\s*:\s*"(\w+)"'::text) AS type) k;

create view executions_view as
 SELECT e.id,
    e.tenant_id,
    e.workflow_id,
    e.version AS workflow_version,
    e.format,
    e.request_id AS workflow_request_id,
        CASE
            WHEN o.execution_id IS NOT NULL THEN o.status
            WHEN q.epoch = 0 THEN 'Pending'::text
            WHEN q.paused THEN 'Paused'::text
            ELSE 'Running'::text
        END AS status,
    e.priority,
    e.behaviour,
    e.trigger,
    e.spec,
    e.principal,
    o.outputs,
    o.error,
    o.context_snapshot,
    COALESCE(o.started_at, ( SELECT t.at
           FROM execution_events t
          WHERE t.execution_id = e.id
          ORDER BY t.seq
         LIMIT 1)) AS started_at,
    o.ended_at,
    e.correlation_id,
    e.parent_id AS parent_execution_id,
    e.parent_node,
    e.depth,
    json_field(e.principal, 'userId'::text) #>> '{}'::text[] AS requester_user_id,
    json_field(e.principal, 'email'::text) #>> '{}'::text[] AS requester_email,
    json_field(e.principal, 'displayName'::text) #>> '{}'::text[] AS requester_display_name,
    e.project_id,
    e.environment_id,
    e.created_at,
    COALESCE(x.driver, 'native'::text) AS driver,
    x.ref AS engine_run_ref
   FROM workflow_executions e
     LEFT JOIN execution_outcomes o ON o.execution_id = e.id
     LEFT JOIN execution_queue q ON q.execution_id = e.id
     LEFT JOIN external_runs x ON x.execution_id = e.id;

create view lifecycle_activities as
 SELECT tenant_id,
    env,
    definition,
    external_ref,
    instance_id,
    activity_id,
    at,
    activity,
    status,
    actor,
    payload
   FROM lifecycle_timeline_view
  WHERE kind = 'activity'::text;

create view lifecycle_instances_view as
 SELECT i.id,
    d.tenant_id,
    d.env,
    d.name AS definition,
    i.version,
    i.external_ref,
    i.state,
    COALESCE(s.is_final, false) AS is_final,
    i.revision,
    i.state_since,
    i.timeouts_fired,
    i.due_at AS timeout_at,
    i.created_at
   FROM lifecycle_instances i
     JOIN lifecycle_definitions d ON d.id = i.definition_id
     LEFT JOIN lifecycle_states s ON s.definition_id = i.definition_id AND s.version = i.version AND s.name = i.state;

create view lifecycle_timeline_view as
 SELECT i.tenant_id,
    i.env,
    i.definition,
    i.external_ref,
    t.instance_id,
    t.id,
    t.kind,
    t.at,
    t.revision,
    t.event,
    t.from_state,
    t.to_state,
    t.request_id,
    t.activity_id,
    t.activity,
    t.status,
    t.actor,
    t.payload,
    t.cause
   FROM lifecycle_timeline t
     JOIN lifecycle_instances_view i ON i.id = t.instance_id
  WHERE t.kind <> 'no-op'::text;

create view runner_sessions as
 SELECT l.objid::bigint AS runner_key,
    a.backend_start AS since
   FROM pg_locks l
     LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory'::text AND l.objsubid = 2 AND l.granted AND l.database = (( SELECT d.oid
           FROM pg_database d
          WHERE d.datname = current_database())) AND l.classid = (hashtext('pawl runner '::text || "current_schema"()::text)::bigint & '4294967295'::bigint)::oid;

create view workflow_execution_hierarchy as
 SELECT parent_id AS parent_execution_id,
    id AS child_execution_id,
    parent_node AS parent_node_id,
    created_at
   FROM workflow_executions
  WHERE parent_id IS NOT NULL;

create view workflow_triggers_view as
 SELECT t.id,
    t.tenant_id,
    t.workflow_id,
    t.trigger_type,
    t.is_enabled,
    t.config,
    t.activation_condition,
    t.event_type,
    cardinality(t.secrets) > 0 AS has_secret,
    t.created_at,
    t.updated_at,
    w.status AS workflow_status,
    w.is_enabled AS workflow_enabled,
    w.format AS workflow_format
   FROM workflow_triggers t
     JOIN workflows w ON w.tenant_id = t.tenant_id AND w.id = t.workflow_id AND w.deleted_at IS NULL;
