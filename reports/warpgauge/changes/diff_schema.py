"""What the pages of a diff read of diff.json, as a JSON schema; diff_json.h describes all of it."""

DIFF_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "warpgauge diff",
    "type": "object",
    "required": ["schema", "kind", "headline", "a", "b"],
    "properties": {
        "schema": {"const": "warpgauge.diff/1"},
        "headline": {"type": "string"},
        "a": {"$ref": "#/$defs/side"},
        "b": {"$ref": "#/$defs/side"},
    },
    "oneOf": [
        {
            "required": ["marks", "causes", "changes"],
            "properties": {
                "kind": {"const": "values"},
                "marks": {"type": "object", "additionalProperties": {"$ref": "#/$defs/count"}},
                "causes": {
                    "type": "array",
                    "items": {
                        "required": ["worse", "moved", "changed", "better"],
                        "properties": {"cause": {"type": "string"}},
                        "additionalProperties": {"$ref": "#/$defs/count"},
                    },
                },
                "changes": {
                    "type": "array",
                    "items": {
                        "allOf": [{"$ref": "#/$defs/value"}],
                        "required": ["mark", "unit"],
                        "properties": {
                            "mark": {"$ref": "#/$defs/word"},
                            "unit": {"type": "string"},
                            "cause": {"type": "string"},
                            "reason": {"type": "string"},
                            "relative": {"type": "number"},
                            "lines": {"type": "array", "items": {"$ref": "#/$defs/place"}},
                        },
                    },
                },
            },
        },
        {
            "required": ["total", "families", "left_out", "differences"],
            "properties": {
                "kind": {"const": "counts"},
                "total": {"$ref": "#/$defs/agreement"},
                "families": {
                    "type": "object",
                    "additionalProperties": {"$ref": "#/$defs/agreement"},
                },
                "left_out": {
                    "type": "object",
                    "additionalProperties": {"type": "array", "items": {"type": "string"}},
                    "propertyNames": {"$ref": "#/$defs/word"},
                },
                "differences": {
                    "type": "array",
                    "items": {
                        "allOf": [{"$ref": "#/$defs/value"}, {"$ref": "#/$defs/place"}],
                        "required": ["a", "b", "confidence"],
                        "properties": {
                            "confidence": {"$ref": "#/$defs/word"},
                            "confidence_reason": {"type": "string"},
                        },
                    },
                },
            },
        },
    ],
    "$defs": {
        "word": {"type": "string", "pattern": "^[a-z_]+$"},
        "count": {"type": "integer", "minimum": 0},
        "side": {
            "type": "object",
            "required": ["file", "origin"],
            "properties": {"file": {"type": "string"}, "origin": {"type": "string"}},
        },
        "place": {
            "type": "object",
            "properties": {"file": {"type": "string"}, "line": {"type": "integer"}},
        },
        "value": {
            "type": "object",
            "required": ["id", "metric"],
            "properties": {
                "id": {"type": "string"},
                "arch": {"type": "string"},
                "metric": {"type": "string"},
                "a": {"type": ["number", "string"]},
                "b": {"type": ["number", "string"]},
            },
        },
        "agreement": {
            "type": "object",
            "required": ["cases", "lines"],
            "properties": {
                "cases": {"$ref": "#/$defs/count"},
                "lines": {
                    "type": "object",
                    "required": ["compared", "exact", "predicted", "estimate"],
                    "properties": {"compared": {"$ref": "#/$defs/count"}},
                    "additionalProperties": {
                        "type": "object",
                        "required": ["equal", "different"],
                        "additionalProperties": {"$ref": "#/$defs/count"},
                    },
                },
            },
        },
    },
}
