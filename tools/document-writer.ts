// Writes spec/openapi.yaml. A short list or object stands on one line, as a reference does: its diff reads as well, and the document is half
// as long.
import { Document, isMap, isScalar, visit, type YAMLMap, type YAMLSeq } from 'yaml'
import type { OpenApiDocument } from './openapi.ts'

const longest = { plain: 118, nested: 100 }

export function writeDocument(contract: OpenApiDocument): string {
	const document = new Document(contract, { aliasDuplicateObjects: false })
	visit(document, {
		Collection(_, node) {
			if (isShort(node)) node.flow = true
		},
	})
	return document.toString({ lineWidth: 120, flowCollectionPadding: true })
}

function isShort(node: YAMLMap | YAMLSeq): boolean {
	const values = isMap(node) ? node.items.map(({ value }) => value) : node.items
	const text = JSON.stringify(node)
	return text.length <= (values.every(isScalar) ? longest.plain : longest.nested) && !text.includes('\\n')
}
