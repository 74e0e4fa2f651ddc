// Where personal data may be, by table and column. A test compares this with the schema: a new table or column must be added,
// so that an erasure does not forget it.

export interface ErasableTable {
	readonly key: readonly string[]
	/** Columns in which a person is blanked; `?` marks those that may be null. */
	readonly text?: readonly string[]
	/** JSON in which the texts of a person are blanked. */
	readonly json?: readonly string[]
	/** Columns that may have the id of a contact. The row is then about that person, but a `contactId` is only a part of it. */
	readonly contact?: readonly string[]
	/** Text that names no person: ids, states, codes, names of things, and what is sealed and removed by itself. */
	readonly plain?: readonly string[]
	/** Rows that a person's erasure leaves as they are. */
	readonly keep?: 'issued'
	/** Columns that become null in a row that is erased, with an `erasedAt`: rows of the table are never deleted. */
	readonly appendOnly?: readonly string[]
}

/** In the order in which an organization's rows can be deleted: no row is left that refers to a deleted one. */
export const tables: Readonly<Record<string, ErasableTable>> = {
	api_keys: { key: ['id'], text: ['name'], json: ['scopes', 'resources'], plain: ['hash', 'lastFour', 'createdBy'] },
	users: { key: ['id'], text: ['name'], plain: ['email', 'role', 'passwordHash', 'issuer', 'subject'] },
	sessions: { key: ['id'], plain: ['userId', 'hash', 'userAgent', 'address'] },
	invitations: { key: ['id'], plain: ['hash', 'email', 'role', 'createdBy'] },
	password_resets: { key: ['userId'], plain: ['userId', 'hash'] },
	webhook_attempts: { key: ['deliveryId', 'number'], text: ['responseBody?', 'error?'], plain: ['request'] },
	webhook_deliveries: {
		key: ['id'],
		text: ['lastError?'],
		plain: ['endpointId', 'eventId', 'eventType', 'resourceId', 'status'],
	},
	webhook_endpoint_hours: { key: ['endpointId', 'place'] },
	webhook_endpoints: {
		key: ['id'],
		text: ['description?'],
		json: ['eventTypes', 'resources', 'headerNames'],
		plain: [
			'url',
			'host',
			'status',
			'disabledReason',
			'secretHint',
			'secret',
			'previousSecret',
			'skipUpTo',
			'againAfter',
			'againUpTo',
			'againStatus',
			'forwardAfter',
			'ordering',
			'headers',
		],
	},
	connections: {
		key: ['id'],
		text: ['name', 'credentialHint?', 'statusReason?'],
		json: ['account', 'config', 'grantedScopes', 'missingScopes', 'lastError'],
		plain: [
			...['provider', 'authType', 'status', 'credentials', 'token', 'stateHash', 'stateVerifier', 'stateBrowser', 'returnUrl'],
			...['linkHash', 'linkReturnUrl'],
		],
	},
	events: {
		key: ['id'],
		json: ['actor', 'changes', 'data'],
		contact: ['resourceId'],
		plain: ['type', 'resourceType', 'resourceId', 'requestId'],
	},
	feed_places: { key: [] },
	audit_log: {
		key: ['id'],
		json: ['before', 'after'],
		contact: ['resourceId'],
		plain: ['action', 'resourceType', 'resourceId', 'operation', 'actorType', 'actorId', 'address', 'requestId'],
		appendOnly: ['before', 'after', 'address'],
	},
	// Sealed, and removed after 24 hours.
	idempotency_keys: {
		key: ['keyId', 'operationId', 'idempotencyKey'],
		json: ['headers'],
		plain: ['requestHash', 'body'],
	},
	mails: {
		key: ['id'],
		text: ['to', 'replyTo?', 'subject', 'reason?'],
		json: ['cc', 'bcc', 'recipients'],
		plain: ['kind', 'resourceId', 'requestKey', 'messageId', 'status'],
	},
	logos: { key: ['sha256'] },
	documents: { key: ['id'], plain: ['invoiceId', 'contentHash', 'sha256'] },
	client_links: { key: ['invoiceId'], plain: ['nonce', 'tokenHash', 'sealedToken'] },
	processor_events: {
		key: ['processor', 'eventId'],
		plain: ['linkId', 'invoiceId', 'currency', 'method', 'reference', 'outcome', 'externalId'],
	},
	payment_allocations: { key: ['id'], plain: ['paymentId', 'invoiceId'] },
	payments: {
		key: ['id'],
		text: ['reference?', 'notes?', 'reversalReason?'],
		json: ['metadata'],
		plain: ['companyId', 'invoiceId', 'currency', 'method', 'source', 'status', 'processor', 'externalId', 'unappliedReason'],
	},
	payment_links: { key: ['id'], plain: ['invoiceId', 'processor', 'externalId', 'url', 'currency', 'status'] },
	payment_credentials: { key: [], plain: ['processor', 'sealed', 'secretKeyLastFour', 'webhookSecretLastFour'] },
	time_entries: {
		key: ['id'],
		text: ['taskName?', 'deliverableName?', 'description?'],
		plain: ['dealId', 'userId', 'taskId', 'deliverableId', 'status', 'invoiceId', 'searchText'],
	},
	number_series: { key: ['series'] },
	number_skips: { key: ['id'], plain: ['series', 'reason', 'invoiceId', 'skippedBy'] },
	invoice_tombstones: { key: ['invoiceId'], plain: ['invoiceNumber', 'currency', 'deletedBy'] },
	invoices: {
		key: ['id'],
		text: ['notes?', 'paymentTerms?', 'paymentReference?'],
		json: ['lineItems', 'billTo', 'billFrom', 'taxBreakdown'],
		plain: [
			'dealId',
			'companyId',
			'invoiceNumber',
			'searchText',
			'status',
			'statusBeforePayment',
			'paymentMethod',
			'taxLabel',
			'currency',
			'taxRounding',
			'timeRounding',
			'language',
			'branding',
			'locale',
			'timeZone',
		],
		keep: 'issued',
	},
	deals: {
		key: ['id'],
		text: ['name'],
		contact: ['contactId'],
		plain: ['companyId', 'pipelineId', 'stage', 'currency', 'contactId', 'searchText'],
	},
	contacts: { key: ['id'], text: ['name', 'email?', 'phone?'], contact: ['id'], plain: ['companyId', 'searchText'] },
	companies: {
		key: ['id'],
		text: ['phone?', 'notes?', 'billingContactName?', 'billingEmail?', 'taxId?', 'vatId?'],
		plain: [
			...['name', 'domain', 'sortName', 'searchText'],
			...[
				'language',
				'billingAddressLine1',
				'billingAddressLine2',
				'billingCity',
				'billingState',
				'billingPostalCode',
				'billingCountry',
			],
		],
	},
	mapping_versions: { key: ['mappingId', 'version'], json: ['source', 'target', 'fields', 'match'] },
	mappings: {
		key: ['id'],
		json: ['source', 'target', 'fields', 'match', 'validation'],
		plain: ['name', 'status', 'connectionId'],
	},
	sync_record_errors: {
		key: ['id'],
		plain: ['syncId', 'runId', 'firstRunId', 'direction', 'recordKey', 'externalId', 'recordId', 'decision'],
		json: ['errors'],
	},
	sync_ended_links: { key: ['connectionId', 'object', 'kind', 'externalId'], plain: ['recordId'] },
	sync_links: {
		key: ['connectionId', 'object', 'kind', 'recordId'],
		json: ['pending', 'lastSeen', 'overruled'],
		plain: [
			'externalId',
			'externalHash',
			'internalHash',
			'pushedHash',
			'remoteHash',
			'seenRunId',
			'goneRunId',
			'heldBy',
			'heldRunId',
			'decision',
			'decidedFor',
		],
	},
	sync_runs: { key: ['id'], json: ['progress', 'error', 'checkpoint'], plain: ['syncId', 'trigger', 'mode', 'status'] },
	syncs: {
		key: ['id'],
		json: ['schedule', 'lastRun', 'state'],
		plain: [
			...['name', 'connectionId', 'mappingId', 'reverseMappingId', 'direction', 'mode'],
			...['conflictPolicy', 'deletePolicy', 'errorPolicy', 'status', 'statusReason'],
		],
	},
	pipelines: { key: ['id'], json: ['stages'], plain: ['name'] },
	long_records: { key: [] },
	// Follows the `searchText` of the records, which an erasure makes anew.
	search_words: { key: ['kind', 'word', 'place', 'id'] },
	// After the companies that it counts.
	record_counts: { key: ['kind', 'part'] },
	// After the invoices and payments that it sums.
	report_sums: { key: ['currency', 'figure', 'at', 'part'] },
	stored_bytes: { key: ['day'] },
	change_times: { key: [] },
	jobs: { key: ['kind', 'resourceId'], text: ['lastError?'], plain: ['checkpoint'] },
	tax_rates: { key: ['id'], plain: ['name', 'label', 'percent'] },
}

/**
 * Tables that an erasure leaves: the organization's own row, which is blanked, the tombstones, and what belongs to no organization. An
 * address stays suppressed (`remit mail unsuppress`): forgetting it would mail somebody who has complained.
 */
export const leftTables = ['organizations', 'erasures', 'migrations', 'webhook_hosts', 'suppressed_addresses']
