// The token of a client link. Its row has the token's hash, by which the link is found, and the token sealed, so that it can be shown
// again. Older versions sealed none: they made the token of a nonce in the row and a key.
import { hash } from 'node:crypto'
import { sealedColumns } from './sealed-columns.ts'
import type { Opened, Secrets } from './secrets.ts'

export interface LinkRow {
	readonly organizationId: string
	readonly invoiceId: string
	/** Empty once the token was sealed again: from then on no other key makes it. */
	readonly nonce: string
	readonly tokenHash: string
	readonly sealedToken: string | null
}

type NewLink = Pick<LinkRow, 'organizationId' | 'invoiceId' | 'nonce'>

export const hashOfToken = (token: string) => hash('sha256', token, 'base64url')

const { clientToken } = sealedColumns

const derivedTokens = (secrets: Secrets, { organizationId, invoiceId, nonce }: NewLink) =>
	secrets.tokens(clientToken.purpose, `${organizationId} ${invoiceId} ${nonce}`)

/** A token, and what is to be stored of it. It is derived, because a server of the version before must find it while both run. */
export function makeClientToken(secrets: Secrets, link: NewLink): Pick<LinkRow, 'tokenHash' | 'sealedToken'> & { token: string } {
	const token = derivedTokens(secrets, link).get(secrets.keyIds[0]) as string
	return { token, tokenHash: hashOfToken(token), sealedToken: secrets.seal(clientToken, link, token) }
}

/** The token, and the key that holds it; undefined when that key is gone. */
export function openClientToken(secrets: Secrets, link: LinkRow): Opened | undefined {
	const sealed = link.sealedToken === null ? undefined : secrets.open(clientToken, link, link.sealedToken)
	// A server of the version before replaces a link without knowing of the sealed token.
	if (sealed && hashOfToken(sealed.text) === link.tokenHash) return sealed
	if (link.nonce === '') return undefined
	for (const [keyId, text] of derivedTokens(secrets, link)) if (hashOfToken(text) === link.tokenHash) return { text, keyId }
	return undefined
}
