// How `remit contract verify` asks the operations: what makes a record, a body that is taken, and bodies that break a rule.
import { integrationRecipes } from './integration-recipes.ts'
import { invoicingRecipes } from './invoicing-recipes.ts'
import { peopleRecipes } from './people-recipes.ts'
import type { Recipe, Recipes } from './recipe.ts'

const recipes: Recipes = { ...invoicingRecipes, ...peopleRecipes, ...integrationRecipes }

/** The recipe of the operation, or of the resource around it. */
export function recipeOf(id: string): Recipe {
	const parts = id.split('.')
	const found = parts.map((_, at) => recipes[parts.slice(0, parts.length - at).join('.')]).find(Boolean)
	if (!found) throw new Error(`recipes.ts does not say how to ask ${id}`)
	return found
}
