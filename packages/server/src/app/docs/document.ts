// The contract as the reference shows it: with the call of each operation in its description.

import { calls } from '../../generated/calls.ts'
import { servedDocument } from '../../platform/contract/document.ts'

/** The JSON of the document; `baseUrl` is the server as clients see it. */
export function referenceDocument(baseUrl: string): string {
	const document = servedDocument(baseUrl)
	for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
		const call = calls[operation.operationId]
		if (!call) throw new Error(`${operation.operationId} has no call: run pnpm generate`)
		const curl = call.curl?.replace('$REMIT_BASE_URL', () => baseUrl)
		operation.description += `\n\n${fenced('ts', call.sdk)}\n\n${curl ? fenced('sh', curl) : ofPages}`
	}
	document.info.description += `\n\n${introduction(baseUrl)}`
	return JSON.stringify(document)
}

const introduction = (baseUrl: string) => `Each operation shows its call with the SDK, where \`remit\` is

${fenced('ts', `import { Remit } from '@remit/sdk'\n\nconst remit = new Remit({ apiKey: process.env.REMIT_API_KEY!, baseUrl: '${baseUrl}' })`)}

and with curl, which reads the same key from \`REMIT_API_KEY\`. **Authorize** takes a key for the requests that you try on this page; it is
forgotten when you leave.`

const ofPages = 'Only a page of the server itself may call it, with `new Remit({ session: true, … })`.'

const fenced = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``
