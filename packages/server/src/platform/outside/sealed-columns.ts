// Every column with sealed values: its table, the table's primary key, and the purpose of the key that seals it. What is in this
// list is counted by `remit secrets status` and sealed again by `remit secrets rotate`.

export interface SealedColumn<Key extends string = string> {
	readonly table: string
	/** The values of these are bound to the sealed one, so that it opens in its own row alone. */
	readonly key: readonly Key[]
	readonly column: string
	readonly purpose: string
}

const sealed = <const Key extends string>(table: string, key: readonly Key[], column: string, purpose: string) =>
	({ table, key, column, purpose }) satisfies SealedColumn<Key>

const endpoint = ['organizationId', 'id'] as const

export const sealedColumns = {
	webhookSecret: sealed('webhook_endpoints', endpoint, 'secret', 'webhook secret'),
	previousWebhookSecret: sealed('webhook_endpoints', endpoint, 'previousSecret', 'webhook secret'),
	/** The headers of an endpoint's requests, as JSON. */
	webhookHeaders: sealed('webhook_endpoints', endpoint, 'headers', 'webhook headers'),
	/** Answers may hold a secret that the database must not have, such as a link's token or an API key. */
	keptAnswer: sealed('idempotency_keys', ['organizationId', 'keyId', 'operationId', 'idempotencyKey'], 'body', 'kept answer'),
	/** The keys of an organization that takes payments with an account of its own, as JSON. */
	paymentCredentials: sealed('payment_credentials', ['organizationId'], 'sealed', 'payment credentials'),
	/** What proves who a connection is, as JSON. */
	connectionCredentials: sealed('connections', ['organizationId', 'id'], 'credentials', 'connection credentials'),
	connectionToken: sealed('connections', ['organizationId', 'id'], 'token', 'connection token'),
	/** Of an authorization that is under way at a provider. */
	connectionVerifier: sealed('connections', ['organizationId', 'id'], 'stateVerifier', 'connection verifier'),
	/** Null in links that an older version made. */
	clientToken: sealed('client_links', ['organizationId', 'invoiceId'], 'sealedToken', 'client link'),
}

/** Each link has a token, if only by its nonce. */
export const isLink = (column: SealedColumn): boolean => column === sealedColumns.clientToken
