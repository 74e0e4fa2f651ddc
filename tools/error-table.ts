// The status and the title of each error code: the sentence in spec/shared/error-codes.tsp begins with the one, the code is the other in words.
import type { OpenApiDocument } from './openapi.ts'

/** Words whose spelling in a title differs from that in a code. */
const spelled: Record<string, string> = { api: 'API', email: 'e-mail', json: 'JSON', url: 'URL' }

export function errorTable({ components: { schemas } }: OpenApiDocument): Record<string, [status: number, title: string]> {
	const codes = (schemas.ErrorCode?.enum ?? []) as string[]
	const sentences = (schemas.ErrorCode?.['x-enumDescriptions'] ?? {}) as Record<string, string>
	return Object.fromEntries(codes.map((code) => [code, [statusOf(code, sentences[code] ?? ''), titleOf(code)]]))
}

function statusOf(code: string, sentence: string): number {
	const status = /^([45]\d\d): /.exec(sentence)?.[1]
	if (!status) throw new Error(`the sentence of ErrorCode.${code} must begin with its status, as "404: no such invoice."`)
	return Number(status)
}

function titleOf(code: string): string {
	const words = code.split('_').map((word) => spelled[word] ?? word)
	return words.join(' ').replace(/^./, (first) => first.toUpperCase())
}
